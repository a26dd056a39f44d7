// What the live demo selects from: the score of every class at every pixel, and a saliency map.
//
// Scores go down in steps. So equal scores are common, and the rule for ties moves the borders.

const LEVELS: f32 = 24.0;
const CELL: f32 = 12.0;  // pixels; one point in each cell

struct Field {
  size: vec2<u32>,
  classes: u32,
  time: f32,
  sources: array<vec4<f32>, 32>,  // position (the shorter side is 1 long), weight, phase
}

@group(0) @binding(0) var<uniform> field: Field;
// [classes, height, width], and [height, width].
@group(0) @binding(1) var<storage, read_write> scores: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> saliency: array<vec4<f32>>;

// Jarzynski and Olano, "Hash functions for GPU rendering", 2020: pcg.
fn random(state: u32) -> u32 {
  let s = state * 747796405u + 2891336453u;
  let word = ((s >> ((s >> 28u) + 4u)) ^ s) * 277803737u;
  return (word >> 22u) ^ word;
}

fn unit(bits: u32) -> f32 { return f32(bits & 0xffffu) / 65535.0; }

// How much a pixel stands out, most so amid its cell's point. "smallest" finds the dark half.
fn point(column: f32, row: f32) -> f32 {
  let cell = floor(vec2<f32>(column, row) / CELL);
  let bits = random(u32(cell.x) + 4096u * u32(cell.y));
  let more = random(bits);
  let middle = floor(cell * CELL + 2.0 + vec2<f32>(unit(bits), unit(bits >> 16u)) * (CELL - 4.0));
  let away = vec2<f32>(column, row) - middle;
  let spot = max(0.0, 1.0 - dot(away, away) / 3.0);
  let twinkle = 0.7 + 0.3 * sin(field.time * (0.6 + 1.8 * unit(more)) + 6.2831853 * unit(more >> 16u));
  let strength = (0.25 + 0.75 * unit(bits >> 8u)) * twinkle * spot;
  return select(strength, -strength, (more & 64u) != 0u);
}

// Four pixels at once: one wide store costs a software adapter hardly more than a narrow one.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let across = field.size.x / 4u;
  if (id.x >= across) { return; }
  let four = id.y * across + id.x;
  let plane = across * field.size.y;
  let scale = 1.0 / f32(min(field.size.x, field.size.y));
  let columns = 4.0 * f32(id.x) + vec4<f32>(0.0, 1.0, 2.0, 3.0);
  let row = f32(id.y);
  // A slow swell bends the borders.
  let x = (columns + 0.5) * scale + 0.025 * sin((row + 0.5) * scale * 9.0 + field.time * 0.7);
  let y = (row + 0.5) * scale + 0.025 * sin((columns + 0.5) * scale * 8.0 - field.time * 0.5);

  var best = vec4<f32>(-1e9);
  for (var c = 0u; c < field.classes; c++) {
    let source = field.sources[c];
    let dx = x - source.x;
    let dy = y - source.y;
    let away = sqrt(dx * dx + dy * dy);
    // Ripples that run outwards.
    let ripple = abs(fract(away * 5.0 - field.time * 0.15 + source.w) - 0.5) - 0.25;
    let score = source.z - away + 0.06 * ripple;
    best = max(best, score);
    scores[c * plane + four] = floor(score * LEVELS) / LEVELS;
  }

  let glow = clamp(1.0 + 1.6 * best, vec4<f32>(0.15), vec4<f32>(1.0));
  saliency[four] = vec4<f32>(point(columns.x, row), point(columns.y, row), point(columns.z, row), point(columns.w, row)) * glow;
}
