// Sorts a list in workgroup memory by merging: a pair's place in two runs is its own in one and the number before it in the other, which
// a binary search tells. No two pairs are equal, so no two places are.
//   CAPACITY  places of the list
//   LONGEST   that is sorted
#import pair

const RUN: u32 = 16u;  // these are sorted by counting
const CARRIED: u32 = (LONGEST + WORKGROUP - 1u) / WORKGROUP;  // pairs of an invocation on their way

var<workgroup> list: array<Stored, CAPACITY>;

// How many pairs of the list's places from `begin` to before `end`, which are in order, come before a pair.
fn count_before(begin: u32, end: u32, pair: Pair) -> u32 {
  var low = begin;
  var high = end;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (before(pair_of(list[middle]), pair)) { low = middle + 1u; } else { high = middle; }
  }
  return low - begin;
}

// Puts the list's first `length` pairs in order. All invocations call it together, after a barrier, with the same `length`.
fn sort_list(local: u32, length: u32) {
  var carried: array<Stored, CARRIED>;
  var places: array<u32, CARRIED>;
  for (var run = 1u; run < length; run = max(RUN, 2u * run)) {
    for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) {
      let at = c * WORKGROUP + local;
      let mine = list[at];
      var place = at;
      if (run == 1u) {
        let begin = at / RUN * RUN;
        place = begin;
        for (var other = begin; other < min(begin + RUN, length); other++) {
          place += select(0u, 1u, before(pair_of(list[other]), pair_of(mine)));
        }
      } else {
        let sibling = ((at / run) ^ 1u) * run;
        place = at - select(0u, run, sibling < at)
          + count_before(min(sibling, length), min(sibling + run, length), pair_of(mine));
      }
      carried[c] = mine;
      places[c] = place;
    }
    workgroupBarrier();
    for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) { list[places[c]] = carried[c]; }
    workgroupBarrier();
  }
}
