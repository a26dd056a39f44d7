// The best pairs of strided subsets, and of classes of them.
// input -> sink (delegates), bests, counts (zeros)
//
// Subset p holds the loads p, p + params.subsets, ... Eight neighbouring invocations share a line
// of memory. The next eight read far away: a stretch with all the best falls to many workgroups.
//   CLASSES    classes of a workgroup, a power of two from 8 on; 0 where the bests are not wanted.
//              Class c has the invocations c, c + classes, ...: no two of them are neighbours.
//   FAN, WIDE  arity of their tree's two steps; a workgroup has CLASSES * WIDE * FAN invocations
#import io/sink
#import thread/scan_loads

const LANES: u32 = 8u;

@group(0) @binding(8) var<storage, read_write> counts: array<u32>;  // [sequence]: list lengths

#if CLASSES
// [sequence][best]: in the order of the classes' first subsets, as all may be alike.
@group(0) @binding(6) var<storage, read_write> bests: array<Stored>;

var<workgroup> tree: array<Stored, WORKGROUP>;

// The best of each class, for its first invocation. Wide steps wait at fewer barriers.
fn best_of_class(local: u32, mine: Pair) -> Pair {
  var best = mine;
  tree[local] = store_of(best);
  workgroupBarrier();
  if (local < CLASSES * WIDE) {
#for j in FAN
    let other$j = pair_of(tree[local + $ju * CLASSES * WIDE]);
#endfor
#for j in FAN
    if (before(other$j, best)) { best = other$j; }
#endfor
    // Nobody else reads these places in the first step, but for the first of each.
    tree[local] = store_of(best);
  }
  workgroupBarrier();
  if (local < CLASSES) {
#for j in WIDE
    let other$j = pair_of(tree[local + $ju * CLASSES]);
#endfor
#for j in WIDE
    if (before(other$j, best)) { best = other$j; }
#endfor
  }
  return best;
}
#endif

fn run(workgroup: u32, local: u32) {
  let workgroups = params.subsets / WORKGROUP;
  let sequence = workgroup / workgroups;
  if (sequence >= params.sequences) { return; }
  let subset = (local / LANES * workgroups + workgroup % workgroups) * LANES + local % LANES;
  let row = row_of(sequence);
  var best = delegate_of(row, scan_loads(row, subset, row.loads, params.subsets));
  put(sequence, subset, best);
  if (subset == 0u) { counts[sequence] = 0u; }
#if CLASSES
  best = best_of_class(local, best);
  if (local < CLASSES) { bests[sequence * workgroups * CLASSES + subset] = store_of(best); }
#endif
}
