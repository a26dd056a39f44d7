// Sorts a list in workgroup memory by merging: a pair's place is its own in its run and, by binary
// search, the number before it in the other.
//   LONGEST  that is sorted
#import workgroup/list

const RUN: u32 = 16u;  // these are sorted by counting
const MOVING: u32 = (LONGEST + WORKGROUP - 1u) / WORKGROUP;  // pairs of an invocation on their way

// How many pairs of the ordered places from `begin` to before `end` come before a pair.
fn count_before(begin: u32, end: u32, held: Held) -> u32 {
  var low = begin;
  var high = end;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (held_before(list[middle], held)) { low = middle + 1u; } else { high = middle; }
  }
  return low - begin;
}

// Sorts the list's first `length` pairs in place. All invocations call it together, with the same
// arguments, after a barrier.
fn merge_list(local: u32, length: u32) {
  var moving: array<Held, MOVING>;
  var places: array<u32, MOVING>;
  for (var run = 1u; run < length; run = max(RUN, 2u * run)) {
    for (var c = 0u; c < MOVING && c * WORKGROUP + local < length; c++) {
      let at = c * WORKGROUP + local;
      moving[c] = list[at];
      if (run == 1u) {
        let begin = at / RUN * RUN;
        places[c] = begin + count_all_before(begin, min(begin + RUN, length), moving[c]);
      } else {
        let sibling = ((at / run) ^ 1u) * run;
        places[c] = at - select(0u, run, sibling < at) + count_before(min(sibling, length), min(sibling + run, length), moving[c]);
      }
    }
    workgroupBarrier();
    for (var c = 0u; c < MOVING && c * WORKGROUP + local < length; c++) { list[places[c]] = moving[c]; }
    workgroupBarrier();
  }
}
