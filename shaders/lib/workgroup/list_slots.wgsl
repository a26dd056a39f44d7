// The slots of a list between brackets, which are the ranks that are wanted of it.
//   params.brackets  lists of a sequence, one a bracket
//   params.places    places of a list
#import workgroup/rank_slots
#import workgroup/same
#import io/ranks
#import io/rank_groups

// Sets the slots of a list of `count` pairs, which `earlier` items of its sequence precede. Whether
// all of them are in the list. All of a workgroup call it together.
fn take_list(local: u32, list: u32, earlier: u32, count: u32) -> bool {
  let sequence = list / params.brackets;
  let first = bounds[list % params.brackets];
  let last = bounds[list % params.brackets + 1u] - 1u;
  let inside = rank_of(sequence, first) > earlier && rank_of(sequence, last) <= earlier + count;
  if (local < RANKS) { slots[local] = Slot(0u, 0u, 0u, rank_of(sequence, min(first + local, last)) - earlier); }
  return same_for_all(local, select(0u, 1u, inside && count <= params.places)) != 0u;
}
