// Counts the first digits of listed pairs: source (lists), list_counters -> list_counters.
#import io/source
#import io/list_counters

@group(0) @binding(7) var<storage, read_write> list_counters: array<atomic<u32>>;

var<workgroup> bins: array<atomic<u32>, BINS>;
var<workgroup> shared_count: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  if (id / params.parts >= params.sequences) { return; }
  let list = id / params.parts;
  if (local == 0u) { shared_count = min(atomicLoad(&list_counters[list_counter(list, LISTED)]), params.length); }
  let count = workgroupUniformLoad(&shared_count);
  if (id % params.parts * WORKGROUP >= count) { return; }
  for (var b = local; b < BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
  workgroupBarrier();
  let row = row_of(list);
  let stride = params.parts * WORKGROUP;
  for (var q = id % params.parts * WORKGROUP + local; q < count; q += 4u * stride) {
#for u in 4
    let pair$u = load(row, min(q + $uu * stride, count - 1u));
#endfor
#for u in 4
    if (q + $uu * stride < count) { atomicAdd(&bins[first_digit_of(pair$u)], 1u); }
#endfor
  }
  workgroupBarrier();
  // Neighbours add to neighbours, so that they share a request.
  for (var b = local; b < BINS; b += WORKGROUP) {
    let mine = atomicLoad(&bins[b]);
    if (mine != 0u) { atomicAdd(&list_counters[list_counter(list, b)], mine); }
  }
}
