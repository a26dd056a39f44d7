// The items of each sequence as pairs, params.members an invocation: source -> sink.
#import io/subsets
#import io/sink

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let work = work_of(linear_workgroup(workgroup, grid) * WORKGROUP + local);
  if (work.sequence >= params.sequences || work.subset >= params.subsets) { return; }
  let row = row_of(work.sequence);
  let target_ = target_of(work.sequence);
  let loads = loads_of(row, work.subset);
  for (var v = loads.x; v < loads.y; v += params.lanes) { put_to(target_, v, load(row, v)); }
}
