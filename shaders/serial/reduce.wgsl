// The best pair of each subset, in one loop without a branch: source -> sink.
#import io/subsets
#import io/sink
#import thread/best

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let work = work_of(linear_workgroup(workgroup, grid) * WORKGROUP + local);
  if (work.sequence >= params.sequences || work.subset >= params.subsets) { return; }
  let row = row_of(work.sequence);
  let loads = loads_of(row, work.subset);
  // The first load stands where no key comes before LAST_KEY. Only end loads hold others' items.
  var v = loads.x;
  var best = best_of(row, v, load(row, v), Pair(LAST_KEY, select(NO_INDEX, v, IN_ORDER > 0u)));
  for (v += params.lanes; v + params.lanes < loads.y; v += params.lanes) { best = best_of_whole(row, v, load(row, v), best); }
  v = select(v - params.lanes, v, v < loads.y);
  best = best_of(row, v, load(row, v), best);
  put(work.sequence, work.subset, settled(row, best));
}
