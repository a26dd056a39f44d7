// Sorts each team's items by words: an item's key above its place. Two operations a comparison.
//
// Words that lack last bits of keys leave items alike but for their places. Two such neighbours are
// exchanged where they lie in `list`. Where more are out of order, all are sorted once more, by
// other words: how many come before all those alike, the bits that were left out, the place.
//   PLACE_BITS  of a place; twice as many, and the bits of a rank, fill no more than a word
#import io/pair_at
#import thread/packed_words
#import workgroup/any
#import workgroup/register_sort
#import workgroup/team_range

const PLACES: u32 = (1u << PLACE_BITS) - 1u;

fn placed(packing: Packing, key: u32, place: u32) -> u32 { return (packed_any(packing, key) & ~PLACES) | place; }
fn are_alike(a: u32, b: u32) -> bool { return alike(a, b, PLACES); }

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

// The word that tells a listed word from those alike.
fn settled(row: Row, packing: Packing, home: u32, word: u32) -> u32 {
  if (word == nothing_held()) { return word; }
  var earlier = 0u;  // listed words before all those alike
  for (var step = SORTED / 2u; step > 0u; step /= 2u) {
    if (list[home + place(earlier + step - 1u)] < (word & ~PLACES)) { earlier += step; }
  }
  let left_out = packed_any(packing, pair_of_word(row, word).key) & PLACES;
  return (((earlier << PLACE_BITS) | left_out) << PLACE_BITS) | (word & PLACES);
}

// Leaves each team's words in order in `list`, the first k of them surely. All call it together.
fn sort_placed(row: Row, packing: Packing, x: ptr<function, Registers>, local: u32, lanes: u32) {
  let home = local / TEAM * LIST;
  let lane = local % TEAM;
  for (var again = false; ; again = true) {
    sort_teams(x, local, lanes);
    list_words(x, local, 0u);
    if (again) { return; }
    var disorder = Disorder(0u, false);
    if (packing.lost > 0u) { disorder = disorder_of(row, home, lane, alike_to_earlier(x, home, lane)); }
    if (!any_of_all(local, disorder.more)) {
      exchange_pairs(home, lane, disorder.pairs);
      workgroupBarrier();
      return;
    }
    var words: Registers;
    for (var i = 0u; i < ITEMS_PER_THREAD; i++) { words[i] = settled(row, packing, home, list[home + place(i * TEAM + lane)]); }
#for i in ITEMS_PER_THREAD
    (*x)[$i] = words[$i];
#endfor
    workgroupBarrier();  // After it all of a subgroup are together again.
  }
}
