// The live demo's picture, drawn from the very buffers that the operators read and wrote.

struct View {
  size: vec2<u32>,   // of the maps
  classes: u32,
  marks: u32,
  pixel: vec2<f32>,  // one pixel of the canvas in clip space
  scale: f32,        // canvas pixels a map pixel
  largest: u32,
  palette: array<vec4<f32>, 32>,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> scores: array<f32>;
@group(0) @binding(2) var<storage, read> saliency: array<f32>;
@group(0) @binding(3) var<storage, read> labels: array<u32>;   // argmax's output
@group(0) @binding(4) var<storage, read> indices: array<u32>;  // top-k's output

// --- The label map ---

struct MapVertex {
  @builtin(position) position: vec4<f32>,
  @location(0) at: vec2<f32>,  // map pixels
}

@vertex
fn map_vertex(@builtin(vertex_index) vertex: u32) -> MapVertex {
  // One triangle that covers the viewport.
  let corner = vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0;
  return MapVertex(vec4<f32>(corner * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0), 0.0, 1.0), corner * vec2<f32>(view.size));
}

fn colour_of(x: i32, y: i32) -> vec3<f32> {
  let at = vec2<u32>(clamp(vec2<i32>(x, y), vec2<i32>(0), vec2<i32>(view.size) - 1));
  let pixel = at.y * view.size.x + at.x;
  let label = labels[pixel];
  let score = scores[label * view.size.x * view.size.y + pixel];
  let lit = view.palette[label].rgb * clamp(0.92 + 1.5 * score, 0.3, 1.05);
  let point = saliency[pixel];
  return mix(lit, select(vec3<f32>(0.0), vec3<f32>(1.0), point > 0.0), 0.75 * abs(point));
}

@fragment
fn map_fragment(in: MapVertex) -> @location(0) vec4<f32> {
  if (view.scale == 1.0) { return vec4<f32>(colour_of(i32(in.at.x), i32(in.at.y)), 1.0); }
  // A blend one canvas pixel wide at the border of two map pixels: sharp, without uneven steps.
  let corner = floor(in.at - 0.5);
  let blend = clamp((in.at - 0.5 - corner - 0.5) * view.scale + 0.5, vec2<f32>(0.0), vec2<f32>(1.0));
  let x = i32(corner.x);
  let y = i32(corner.y);
  let upper = mix(colour_of(x, y), colour_of(x + 1, y), blend.x);
  let lower = mix(colour_of(x, y + 1), colour_of(x + 1, y + 1), blend.x);
  return vec4<f32>(mix(upper, lower, blend.y), 1.0);
}

// --- The marks: a ring around each of the k points ---

struct MarkVertex {
  @builtin(position) position: vec4<f32>,
  @location(0) away: vec2<f32>,    // canvas pixels from the point
  @location(1) radius: f32,
  @location(2) colour: vec3<f32>,
}

@vertex
fn mark_vertex(@builtin(vertex_index) vertex: u32, @builtin(instance_index) rank: u32) -> MarkVertex {
  let index = indices[rank];
  let point = vec2<f32>(f32(index % view.size.x), f32(index / view.size.x)) + 0.5;
  // The first is the largest ring; the others shrink with their rank, and all where there are many.
  let share = f32(rank) / f32(max(view.marks, 2u) - 1u);
  let crowd = clamp(sqrt(96.0 / f32(view.marks)), 0.55, 1.0);
  let radius = select(mix(7.5, 4.5, share) * crowd, 11.0, rank == 0u);
  let warm = mix(vec3<f32>(1.0, 0.95, 0.7), vec3<f32>(1.0, 0.55, 0.2), share);
  let cold = mix(vec3<f32>(0.85, 0.97, 1.0), vec3<f32>(0.3, 0.7, 1.0), share);
  let away = (vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0) * (radius + 3.0);
  let centre = point / vec2<f32>(view.size) * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0);
  let position = centre + away * vec2<f32>(1.0, -1.0) * view.pixel;
  return MarkVertex(vec4<f32>(position, 0.0, 1.0), away, radius, select(cold, warm, view.largest == 1u));
}

@fragment
fn mark_fragment(in: MarkVertex) -> @location(0) vec4<f32> {
  let distance = abs(length(in.away) - in.radius);
  let ring = clamp(1.6 - distance, 0.0, 1.0);
  let outline = clamp(2.8 - distance, 0.0, 1.0);  // dark, so that the ring shows on any colour
  return vec4<f32>(in.colour * ring, max(ring, 0.65 * outline));
}
