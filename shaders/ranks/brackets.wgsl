// The brackets that a sample gives: histogram, progress -> brackets.
#import workgroup/rank_levels
#import io/brackets

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  take_slots(local, sequence);
  if (local < params.ranks) { brackets[sequence * params.ranks + local] = slots[local]; }
}
