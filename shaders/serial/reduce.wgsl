// The best pair of each subset, in one loop without a branch: source -> sink.
//   UNROLL  loads of a turn of the loop; the last ones may be the same again
#import io/subsets
#import io/sink
#import thread/best

fn run(workgroup: u32, local: u32) {
  let work = work_of(workgroup * WORKGROUP + local);
  if (work.sequence >= params.sequences || work.subset >= params.subsets) { return; }
  let row = row_of(work.sequence);
  let loads = loads_of(row, work.subset);
  let first = loads.x;
  // A subset may be empty.
  let last = first + (max(loads.y, first + 1u) - 1u - first) / params.lanes * params.lanes;
  // The first load stands where no key comes before LAST_KEY. Only end loads hold others' items.
  var best = best_of(row, first, load(row, first), Pair(LAST_KEY, select(NO_INDEX, first, IN_ORDER > 0u)));
  for (var v = first + params.lanes; v < last; v += UNROLL * params.lanes) {
#for u in UNROLL
    let v$u = min(v + $uu * params.lanes, last - params.lanes);
#if RAGGED
    best = best_of(row, v$u, load(row, v$u), best);  // Any load may hold items without a part.
#else
    best = best_of_whole(row, v$u, load(row, v$u), best);
#endif
#endfor
  }
  best = best_of(row, last, load(row, last), best);
  put(work.sequence, work.subset, settled(row, best));
}
