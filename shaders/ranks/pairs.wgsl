// The pairs at several ranks, once all digits are counted: histogram, progress -> sink.
#import workgroup/rank_levels
#import io/sink

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id, params.sequences - 1u);
  take_slots(local, sequence);
  if (id < params.sequences && local < params.ranks) {
    put(sequence, params.first_rank + local, pair_of_slot(local));
  }
}
