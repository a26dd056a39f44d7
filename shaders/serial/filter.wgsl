// Lists the pairs of chosen subsets up to the last best that was chosen: source, chosen bests ->
// lists (sink), list_counts. params.slices invocations share a subset.
#import io/subsets
#import io/sink

@group(0) @binding(8) var<storage, read_write> list_counts: array<atomic<u32>>;  // [sequence]
// The bests of subsets, in order: [sequence][rank].
@group(0) @binding(9) var<storage, read_write> chosen_keys: array<Key>;
@group(0) @binding(10) var<storage, read_write> chosen_indices: array<u32>;

fn chosen(sequence: u32, rank: u32) -> Pair {
  let at = sequence * params.k + rank;
  return Pair(chosen_keys[at], chosen_indices[at]);
}

fn subset_of(row: Row, index: u32) -> u32 {
  let v = load_of(row, index);
  let run = v / (params.lanes * params.members);
  return run * params.lanes + v % params.lanes;
}

fn run(workgroup: u32, local: u32) {
  let id = workgroup * WORKGROUP + local;
  let one = id / params.slices;
  let sequence = one / params.k;
  if (sequence >= params.sequences) { return; }
  let best = chosen(sequence, one - sequence * params.k);
  if (best.index == NO_INDEX) { return; }  // A subset without items.
  let threshold = chosen(sequence, params.k - 1u);
  let row = row_of(sequence);
  let loads = loads_of(row, subset_of(row, best.index));
  for (var v = loads.x + (id - one * params.slices) * params.lanes; v < loads.y; v += params.lanes * params.slices) {
    let data = load(row, v);
    var passing = 0u;  // a bit an item
#for c in PER_LOAD
    passing |= select(0u, 1u << $cu, passes(threshold, item(row, v, data, $cu)));
#endfor
    // A loop, not a branch: such a machine runs what stands in a branch, taken or not.
    for (; passing > 0u; passing &= passing - 1u) {
      put(sequence, atomicAdd(&list_counts[sequence], 1u), item(row, v, data, firstTrailingBit(passing)));
    }
  }
}
