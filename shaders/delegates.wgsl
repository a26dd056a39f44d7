// The best pair of each strided subset, and of each class of those: input (binding 1) -> delegates (4, 5), bests (6, 7), zeros (8); or, where
// SECONDS, the least key of each subset's other loads (6) in place of bests.
//
// Subset p holds the loads p, p + params.subsets, ...; an invocation serves one, or OWN (lib/own.wgsl). LANES neighbouring invocations read
// neighbouring loads, a line of memory together; the workgroup's next LANES lie far away, so that a stretch of memory with all that is best
// falls to many workgroups. The invocations c, c + CLASSES, ... of a workgroup are a class: no two of them are neighbours.
//   OWN        delegates of an invocation, 1 where there are classes
//   CLASSES    classes of a workgroup, a power of two from LANES on; 0 where the bests are not wanted
//   FAN, WIDE  what the first step of their tree brings together, and the second; CLASSES * WIDE * FAN invocations are a workgroup
#import sink
#if OWN > 1
#import own

alias Items = array<Pair, OWN>;
#else
#import best
#endif

@group(0) @binding(8) var<storage, read_write> counts: array<u32>;  // [sequence]: of the list that is filled later

#if SECONDS
@group(0) @binding(6) var<storage, read_write> second_keys: array<Key>;  // [sequence][subset]
#endif

#if CLASSES
@group(0) @binding(6) var<storage, read_write> best_keys: array<Key>;
@group(0) @binding(7) var<storage, read_write> best_indices: array<u32>;

var<workgroup> tree: array<Stored, WORKGROUP>;
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let workgroups = params.subsets / (OWN * WORKGROUP);
  let sequence = id / workgroups;
  let invocation = (local / LANES * workgroups + id % workgroups) * LANES + local % LANES;
  let live = sequence < params.sequences;
  var best = last_pair();
  if (live) {
    let row = row_of(sequence);
#if OWN > 1
    var items: Items;
#for i in OWN
    items[$i] = last_pair();
#endfor
    let first = first_subset(invocation);
    scan_own(row, first, params.subsets, &items);
#for i in OWN
    put(sequence, first + $iu * LANES, items[$i]);
#if SECONDS
    second_keys[sequence * params.subsets + first + $iu * LANES] = nexts[$i].key;
#endif
#endfor
#else
    best = delegate_of(row, scan_loads(row, invocation, row.loads, params.subsets));
    put(sequence, invocation, best);
#endif
    if (id % workgroups == 0u && local == 0u) { counts[sequence] = 0u; }
  }
#if CLASSES
  // Two wide steps in place of many narrow ones: every barrier waits for loads of others.
  tree[local] = store_of(best);
  workgroupBarrier();
#if WIDE > 1
  if (local < CLASSES * WIDE) {
#for j in FAN
    let other$j = pair_of(tree[local + $ju * CLASSES * WIDE]);
#endfor
#for j in FAN
    if (before(other$j, best)) { best = other$j; }
#endfor
    tree[local] = store_of(best);
  }
  workgroupBarrier();
#endif
  if (local < CLASSES) {
#for j in WIDE
    let other$j = pair_of(tree[local + $ju * CLASSES]);
#endfor
#for j in WIDE
    if (before(other$j, best)) { best = other$j; }
#endfor
  }
  if (live && local < CLASSES) {
    best_keys[id * CLASSES + local] = best.key;
    best_indices[id * CLASSES + local] = best.index;
  }
#endif
}
