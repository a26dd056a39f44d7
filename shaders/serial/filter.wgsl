// Lists a chosen subset's pairs before the threshold; params.slices invocations share a subset.
// source, chosen, chosen_counts, thresholds -> lists (sink), list_counts
#import io/subsets
#import io/sink

@group(0) @binding(7) var<storage, read_write> thresholds: array<Stored>;  // [sequence]
@group(0) @binding(8) var<storage, read_write> chosen_counts: array<u32>;  // [sequence]
@group(0) @binding(9) var<storage, read_write> list_counts: array<atomic<u32>>;  // [sequence]
// [sequence][chosen]: subsets, or the indices of their best.
@group(0) @binding(10) var<storage, read_write> chosen: array<u32>;

fn subset_of(row: Row, listed: u32) -> u32 {
#if SOURCE_PAIRS
  return listed;
#else
  let v = load_of(row, listed);
  let run = v / (params.lanes * params.members);
  return select(run * params.lanes + v % params.lanes, listed, params.numbered > 0u);
#endif
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let one = id / params.slices;
  let sequence = one / params.chosen;
  let number = one - sequence * params.chosen;
  if (sequence >= params.sequences || number >= chosen_counts[min(sequence, params.sequences - 1u)]) { return; }
  let listed = chosen[sequence * (params.chosen + 1u) + number];
  if (listed == NO_INDEX) { return; }  // A subset without items.
  let threshold = pair_of(thresholds[sequence]);
  let row = row_of(sequence);
  let loads = loads_of(row, subset_of(row, listed));
  for (var v = loads.x + (id - one * params.slices) * params.lanes; v < loads.y; v += params.lanes * params.slices) {
    let data = load(row, v);
    var passing = 0u;  // a bit an item
#for c in PER_LOAD
    passing |= select(0u, 1u << $cu, before(item(row, v, data, $cu), threshold));
#endfor
    // A loop, not a branch: such a machine runs what stands in a branch, taken or not.
    for (; passing > 0u; passing &= passing - 1u) {
      put(sequence, atomicAdd(&list_counts[sequence], 1u), item(row, v, data, firstTrailingBit(passing)));
    }
  }
}
