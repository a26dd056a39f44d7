// Counters of each list between brackets: [list][what], zeros before. Kernels bind `list_counters`.
//   BINS  a list's pairs by the first digit of how far they lie in the bracket
#import order/words

const EARLIER: u32 = BINS;      // items that precede the bracket
const LISTED: u32 = BINS + 1u;  // pairs that asked for a place in the list

fn list_counter(list: u32, what: u32) -> u32 { return list * (BINS + 2u) + what; }

fn first_shift() -> u32 { return 32u - firstTrailingBit(BINS); }

fn first_digit_of(pair: Pair) -> u32 { return words_of(pair).x >> first_shift(); }
