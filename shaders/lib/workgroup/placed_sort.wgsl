// Sorts each team's items by words: an item's key above its place. Two operations a comparison.
//
// Words that lack last bits of keys leave items alike but for their places. Two such neighbours are
// exchanged where they lie in `list`. Where more are out of order, all are sorted again, by other
// words: how many come before all those alike, the next bits, the place. Keys of one word have no
// more bits than that.
//   RANK_BITS   of a rank
//   PLACE_BITS  of a place; twice as many, and the bits of a rank, fill no more than a word
#import io/pair_at
#import workgroup/any
#import workgroup/least_key
#import workgroup/register_sort
#if KEY_WORDS == 1
#import thread/packed_words
#else
#import order/arithmetic
#endif

const PLACES: u32 = (1u << PLACE_BITS) - 1u;
const NEXT_BITS: u32 = 32u - PLACE_BITS - RANK_BITS;

#if KEY_WORDS == 1

fn packing_of_range(range: Range) -> Packing { return packing_up_to(vec2<u32>(range.least, range.greatest), PLACE_BITS); }

// Bits of a key from one on, all of which a number of so many bits tells.
fn told_from(packing: Packing, key: Key, bit: u32) -> u32 { return packed_any(packing, key) << bit; }
fn number_bits(packing: Packing) -> u32 { return 32u - PLACE_BITS + packing.lost; }

#else

struct Packing { least: Key, last: Key, zeros: u32 }

// One more key is for all that come after the range.
fn packing_of_range(range: Range) -> Packing {
  let last = key_max(range.greatest, key_plus(range.greatest, Key(0u, 1u)));
  return Packing(range.least, last, key_zeros(key_minus(last, range.least)));
}

fn told_from(packing: Packing, key: Key, bit: u32) -> u32 {
  return shifted_up(shifted_up(key_minus(key_min(key, packing.last), packing.least), packing.zeros), bit).x;
}
fn number_bits(packing: Packing) -> u32 { return 64u - packing.zeros; }

#endif

fn placed(packing: Packing, key: Key, place: u32) -> u32 { return (told_from(packing, key, 0u) & ~PLACES) | place; }
fn are_alike(a: u32, b: u32) -> bool { return (a ^ b) <= PLACES; }

fn pair_of_word(row: Row, word: u32) -> Pair { return pair_at(row, (word & PLACES) - row.skew); }

// What is out of order among the first k ranks and those alike to the last of them.
struct Disorder {
  pairs: u32,  // A bit for each of an invocation's ranks: exchange it with the one before.
  more: bool,
}

// Which of an invocation's words, in order and listed, are alike to the one before: a bit each.
fn alike_to_earlier(x: ptr<function, Registers>, home: u32, lane: u32) -> u32 {
  let first = lane * ITEMS_PER_THREAD;
  var bits = select(0u, 1u, lane > 0u && are_alike((*x)[0], list[home + place(max(first, 1u) - 1u)]));
#for i in ITEMS_PER_THREAD
#if $i > 0
  bits |= select(0u, $[1 << i]u, are_alike((*x)[$i], (*x)[$[i - 1]]));
#endif
#endfor
  return bits;
}

fn disorder_of(row: Row, home: u32, lane: u32, doubtful: u32) -> Disorder {
  var disorder = Disorder(0u, false);
  for (var left = doubtful; left != 0u; left &= left - 1u) {
    let rank = lane * ITEMS_PER_THREAD + firstTrailingBit(left);
    let word = list[home + place(rank)];
    if (word == nothing_held() || (rank >= params.k && !are_alike(word, list[home + place(params.k - 1u)]))) { break; }
    let earlier = list[home + place(rank - 1u)];
    if (before(pair_of_word(row, earlier), pair_of_word(row, word))) { continue; }
    if ((rank > 1u && are_alike(word, list[home + place(rank - 2u)])) ||
        (rank + 1u < SORTED && are_alike(word, list[home + place(rank + 1u)]))) {
      disorder.more = true;
    } else {
      disorder.pairs |= left & (0u - left);
    }
  }
  return disorder;
}

fn exchange_pairs(home: u32, lane: u32, pairs: u32) {
  for (var left = pairs; left != 0u; left &= left - 1u) {
    let rank = lane * ITEMS_PER_THREAD + firstTrailingBit(left);
    let word = list[home + place(rank)];
    list[home + place(rank)] = list[home + place(rank - 1u)];
    list[home + place(rank - 1u)] = word;
  }
}

// The word that tells a listed word from those alike, by bits of keys from one on.
fn settled(row: Row, packing: Packing, home: u32, word: u32, bit: u32) -> u32 {
  if (word == nothing_held()) { return word; }
  var earlier = 0u;  // listed words before all those alike
  for (var step = SORTED / 2u; step > 0u; step /= 2u) {
    if (list[home + place(earlier + step - 1u)] < (word & ~PLACES)) { earlier += step; }
  }
  let next = told_from(packing, pair_of_word(row, word).key, bit) >> (32u - NEXT_BITS);
  return (((earlier << NEXT_BITS) | next) << PLACE_BITS) | (word & PLACES);
}

// Leaves each team's words in order in `list`, the first k of them surely. All call it together.
fn sort_placed(row: Row, packing: Packing, x: ptr<function, Registers>, local: u32, lanes: u32) {
  let home = local / TEAM * LIST;
  let lane = local % TEAM;
  for (var told = 32u - PLACE_BITS; ; told += NEXT_BITS) {
    sort_teams(x, local, lanes);
    list_words(x, local, 0u);
    var disorder = Disorder(0u, false);
    if (told < number_bits(packing)) { disorder = disorder_of(row, home, lane, alike_to_earlier(x, home, lane)); }
    if (!any_of_all(local, disorder.more)) {
      exchange_pairs(home, lane, disorder.pairs);
      workgroupBarrier();
      return;
    }
    var words: Registers;
    for (var i = 0u; i < ITEMS_PER_THREAD; i++) {
      words[i] = settled(row, packing, home, list[home + place(i * TEAM + lane)], told);
    }
#for i in ITEMS_PER_THREAD
    (*x)[$i] = words[$i];
#endfor
    workgroupBarrier();  // After it all of a subgroup are together again.
  }
}
