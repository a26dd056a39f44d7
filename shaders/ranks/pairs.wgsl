// The pairs at several ranks, once all digits are counted: histogram, progress -> sink.
#import workgroup/rank_levels
#import io/rank_pairs

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  if (!is_wanted(local, sequence)) { return; }
  take_slots(local, sequence);
  let at = sequence * params.sink_step + params.first_rank + local;
  if (local < min(params.ranks, RANKS)) { put_pair(at, pair_from(slots[local].xyz)); }
}
