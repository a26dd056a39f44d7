// Columns as rows: input -> rows, elements as they are, each row from a load's beginning.
//
// A workgroup copies a tile through its memory: params.tile items of params.tile_columns columns
// side by side. So neighbours read along the columns' dimension, and write along the rows.
//   UNITS     units that an invocation reads, all under way at once
//   PER_UNIT  items of a unit: one, or as many as share a word
//   QUARTER   units of 16 bytes
#import io/input

const ROOM: u32 = UNITS * WORKGROUP;

@group(0) @binding(6) var<storage, read_write> rows: array<vec4<u32>>;  // [sequence][vector]

var<workgroup> tile: array<Key, ROOM + ROOM / 8u>;  // [column][unit], and one to spare a column

struct Tile { sequence: u32, columns: u32, first: u32, number: u32, live: bool }

fn tile_of(id: u32) -> Tile {
  let columns = params.neighbours;
  let across = (columns + params.tile_columns - 1u) / params.tile_columns;
  let first_column = id % across * params.tile_columns;
  let number = id / across % params.tiles;
  let sequence = id / across / params.tiles * columns + first_column;
  let count = min(params.tile_columns, columns - first_column);
  return Tile(sequence, count, number * params.tile, number, sequence < params.sequences);
}

fn units_of_column() -> u32 { return params.tile / PER_UNIT; }

fn read_tile(at: Tile, local: u32) {
  let start = sequence_offsets(at.sequence).x;
#for u in UNITS
  let place$u = $uu * WORKGROUP + local;
  let unit$u = place$u / params.tile_columns;
  let column$u = place$u - unit$u * params.tile_columns;
  let from$u = start + min(column$u, at.columns - 1u);
#for i in PER_UNIT
  let element$[u]x$i = element_at(from$u + min(at.first + unit$u * PER_UNIT + $iu, params.axes[0].x - 1u) * params.axes[0].y);
#endfor
#endfor
#for u in UNITS
#if PER_UNIT > 1
  var bits$u = 0u;
#for i in PER_UNIT
  bits$u |= element$[u]x$i >> $[(32 // PER_UNIT) * (PER_UNIT - 1 - i)]u;
#endfor
#else
  let bits$u = element$[u]x0;
#endif
  if (unit$u < units_of_column()) { tile[column$u * (units_of_column() + 1u) + unit$u] = bits$u; }
#endfor
}

// The 16 bytes from a unit on.
fn vector_at(place: u32) -> vec4<u32> {
  var words: vec4<u32>;
#for q in QUARTER
#if ELEMENT_BYTES == 8
  words[$[2 * q]] = tile[place + $qu].y;
  words[$[2 * q + 1]] = tile[place + $qu].x;
#else
  words[$q] = tile[place + $qu];
#endif
#endfor
  return words;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = tile_of(linear_workgroup(workgroup, grid));
  if (at.live) { read_tile(at, local); }
  workgroupBarrier();
  let vectors = units_of_column() / QUARTER;  // of a tile's row, and of a whole one
  let row_vectors = (params.axes[0].x * ELEMENT_BYTES + 31u) / 32u * 2u;
  for (var v = local; v < at.columns * vectors; v += WORKGROUP) {
    let column = v / vectors;
    let vector = v - column * vectors;
    if (at.live && at.number * vectors + vector < row_vectors) {
      rows[(at.sequence + column) * row_vectors + at.number * vectors + vector] = vector_at(column * (units_of_column() + 1u) + vector * QUARTER);
    }
  }
}
