// How far each point of a cloud is from the mouse on the screen; copies of the points chosen.

struct View {
  matrix: mat4x4<f32>,  // from the world to the screen, -1 to 1 each way
  mouse: vec2<f32>,     // there too
  half: vec2<f32>,      // pixels of the screen's half
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> points: array<f32>;           // [count, 3], pygfx's
@group(0) @binding(2) var<storage, read_write> distances: array<f32>;  // [count], squared
@group(0) @binding(3) var<storage, read> nearest: array<u32>;          // [k]
@group(0) @binding(4) var<storage, read_write> marks: array<f32>;      // [k, 3], pygfx's

fn point(at: u32) -> vec3<f32> {
  return vec3(points[3u * at], points[3u * at + 1u], points[3u * at + 2u]);
}

@compute @workgroup_size(256)
fn measure(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&distances)) { return; }
  let seen = view.matrix * vec4(point(id.x), 1.0);
  let away = (seen.xy / max(seen.w, 1e-6) - view.mouse) * view.half;
  distances[id.x] = select(1e30, dot(away, away), seen.w > 0.0);  // behind the camera: far away
}

@compute @workgroup_size(64)
fn mark(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&nearest)) { return; }
  let chosen = point(nearest[id.x]);
  marks[3u * id.x] = chosen.x;
  marks[3u * id.x + 1u] = chosen.y;
  marks[3u * id.x + 2u] = chosen.z;
}
