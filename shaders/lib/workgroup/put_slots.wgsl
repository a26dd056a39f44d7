// The pairs of a list's slots as pairs of its sequence.
//   params.brackets    lists of a sequence, one a bracket
//   params.sink_step   pairs of a sequence
//   params.first_rank  the first of them
#import workgroup/rank_slots
#import io/brackets
#import io/rank_groups
#import io/rank_pairs

fn put_slots(local: u32, list: u32) {
  let first = bounds[list % params.brackets];
  let at = list / params.brackets * params.sink_step + params.first_rank + first + local;
  if (local < min(bounds[list % params.brackets + 1u] - first, RANKS)) {
    put_pair(at, out_of_bracket(frame_of(list), pair_from(slots[local].xyz)));
  }
}
