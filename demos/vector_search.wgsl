// Squared distances of vectors and queries of 128 signed bytes: integers up to 128 * 255^2.
// An invocation keeps one vector and meets every query.

struct Shape {
  vectors: u32,
  queries: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> vectors: array<vec4<u32>>;    // [vectors, 8]: 16 bytes
@group(0) @binding(2) var<storage, read> queries: array<vec4<u32>>;    // [queries, 8]
@group(0) @binding(3) var<storage, read_write> distances: array<i32>;  // [queries, vectors]

fn dot16(a: vec4<u32>, b: vec4<u32>) -> i32 {
  return dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y) + dot4I8Packed(a.z, b.z) + dot4I8Packed(a.w, b.w);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let at = min(id.x, shape.vectors - 1u) * 8u;
  let v0 = vectors[at];
  let v1 = vectors[at + 1u];
  let v2 = vectors[at + 2u];
  let v3 = vectors[at + 3u];
  let v4 = vectors[at + 4u];
  let v5 = vectors[at + 5u];
  let v6 = vectors[at + 6u];
  let v7 = vectors[at + 7u];
  let own = dot16(v0, v0) + dot16(v1, v1) + dot16(v2, v2) + dot16(v3, v3)
          + dot16(v4, v4) + dot16(v5, v5) + dot16(v6, v6) + dot16(v7, v7);
  for (var q = 0u; q < shape.queries; q++) {
    let b = q * 8u;
    let q0 = queries[b];
    let q1 = queries[b + 1u];
    let q2 = queries[b + 2u];
    let q3 = queries[b + 3u];
    let q4 = queries[b + 4u];
    let q5 = queries[b + 5u];
    let q6 = queries[b + 6u];
    let q7 = queries[b + 7u];
    let theirs = dot16(q0, q0) + dot16(q1, q1) + dot16(q2, q2) + dot16(q3, q3)
               + dot16(q4, q4) + dot16(q5, q5) + dot16(q6, q6) + dot16(q7, q7);
    let both = dot16(v0, q0) + dot16(v1, q1) + dot16(v2, q2) + dot16(v3, q3)
             + dot16(v4, q4) + dot16(v5, q5) + dot16(v6, q6) + dot16(v7, q7);
    if (id.x < shape.vectors) { distances[q * shape.vectors + id.x] = own + theirs - 2 * both; }
  }
}
