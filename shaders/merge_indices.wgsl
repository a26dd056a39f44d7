// Global indices of merged pairs: a position among the partial results of several chunks (1) names a chunk and the index within it (2),
// to which the chunk's own first index is added -> 64-bit indices (3), low word first.

struct Merge {
  count: u32,           // results: rows x k
  k: u32,               // of each row
  slot_step: u32,       // indices from one chunk's partial results to the next one's
  unused: u32,
  first: array<vec4<u32>, 64>,  // of each chunk, its first index: low word, high word
}

@group(0) @binding(0) var<uniform> merge: Merge;
@group(0) @binding(1) var<storage, read> positions: array<u32>;
@group(0) @binding(2) var<storage, read> partial: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> result: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = (workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z)) * 64u + local;
  if (at >= merge.count) { return; }
  let position = positions[at];
  let slot = position / merge.k;
  let index = partial[slot * merge.slot_step + at / merge.k * merge.k + position % merge.k];
  let first = merge.first[slot].xy;
  let low = index.x + first.x;
  result[at] = vec2<u32>(low, index.y + first.y + select(0u, 1u, low < index.x));
}
