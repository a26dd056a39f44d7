// The pairs at several ranks, once all digits are counted: histogram, progress -> sink.
#import workgroup/rank_levels
#import io/rank_pairs
#if GATE == 2
#import io/rank_groups
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  if (!is_wanted(local, sequence)) { return; }
  take_slots(local, sequence);
#if GATE == 2
  let first = bounds[sequence % params.chosen];
  let count = bounds[sequence % params.chosen + 1u] - first;
  let at = sequence / params.chosen * params.sink_step + params.first_rank + first + local;
#else
  let count = params.ranks;
  let at = sequence * params.sink_step + params.first_rank + local;
#endif
  if (local < min(count, RANKS)) { put_pair(at, pair_from(slots[local].xyz)); }
}
