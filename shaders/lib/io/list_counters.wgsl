// Counters of each list between brackets: [list][what]. Kernels bind `list_counters`.
//   LIST_BINS  counters of its pairs by the first digit of how far they lie in the bracket, or 0
#import order/words

const EARLIER: u32 = LIST_BINS;      // items that precede the bracket
const LISTED: u32 = LIST_BINS + 1u;  // pairs that asked for a place in the list

// What LISTED becomes where not all that is wanted of a list is in it.
const MISSED: u32 = 0xffffffffu;

fn list_counter(list: u32, what: u32) -> u32 { return list * (LIST_BINS + 2u) + what; }
#if LIST_BINS

fn first_shift() -> u32 { return 32u - firstTrailingBit(LIST_BINS); }

fn first_digit_of(pair: Pair) -> u32 { return words_of(pair).x >> first_shift(); }
#endif
