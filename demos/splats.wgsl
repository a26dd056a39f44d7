// Soft discs: how far each is and whether it is seen; and all of those, the farthest first.

struct View {
  matrix: mat4x4<f32>,  // from the world to the screen, -1 to 1 each way
  size: vec2<f32>,      // half of a disc's width and height at depth 1
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> positions: array<f32>;     // [count, 3]
@group(0) @binding(2) var<storage, read> colors: array<u32>;        // [count], a byte a channel
@group(0) @binding(3) var<storage, read_write> depths: array<f32>;  // [count], -1 if not seen
// Vertices of a disc, discs to draw, the first vertex, the first disc.
@group(0) @binding(4) var<storage, read_write> draw: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> order: array<u32>;         // [count], the farthest first

fn on_screen(at: u32) -> vec4<f32> {
  return view.matrix * vec4(positions[3u * at], positions[3u * at + 1u], positions[3u * at + 2u], 1.0);
}

@compute @workgroup_size(256)
fn cull(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&depths)) { return; }
  let place = on_screen(id.x);
  let seen = place.w > 0.1 && all(abs(place.xy) <= place.ww + view.size);
  depths[id.x] = select(-1.0, place.w, seen);
  if (seen) { atomicAdd(&draw[1], 1u); }
}

struct Corner {
  @builtin(position) place: vec4<f32>,
  @location(0) away: vec2<f32>,
  @location(1) color: vec4<f32>,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Corner {
  let at = order[instance];
  let away = vec2(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
  var place = on_screen(at);
  place.x += away.x * view.size.x;
  place.y += away.y * view.size.y;
  return Corner(place, away, unpack4x8unorm(colors[at]));
}

@fragment
fn disc(corner: Corner) -> @location(0) vec4<f32> {
  let alpha = corner.color.a * max(exp(-4.0 * dot(corner.away, corner.away)) - 0.02, 0.0);
  return vec4(corner.color.rgb * alpha, alpha);
}
