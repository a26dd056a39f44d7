// Global indices of merged pairs: positions, partial indices, first indices -> result.
// A position names a chunk and a place among its partial results. The chunk's first index, of
// those params.source_step apart, is added. All but the positions have 64 bits.
#import io/params

@group(0) @binding(1) var<storage, read> positions: array<u32>;             // [rank]
// [chunk][row][k]: low word, high word.
@group(0) @binding(2) var<storage, read> partial: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> first_indices: array<vec2<u32>>;   // [chunk]
@group(0) @binding(4) var<storage, read_write> result: array<vec2<u32>>;    // [rank]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (at >= params.length) { return; }
  let position = positions[at];
  let chunk = position / params.k;
  let index = partial[chunk * params.source_step + at / params.k * params.k + position % params.k];
  let first = first_indices[chunk];
  let low = index.x + first.x;
  result[at] = vec2<u32>(low, index.y + first.y + select(0u, 1u, low < index.x));
}
