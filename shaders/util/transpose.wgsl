// Columns as rows: input -> rows, elements as they are, each row from a load's beginning.
//
// A workgroup copies a tile through its memory: params.tile items of params.tile_columns columns
// side by side. It reads words as they lie, in runs of an item, or of a vector's items where those
// follow one another. Elements are taken from them column by column. So neighbours read along the
// columns' dimension, and write along the rows.
//   UNITS     units that an invocation reads, all under way at once: a word, or a longer element
//   PER_UNIT  elements of a unit
#import io/input

const ROOM: u32 = UNITS * WORKGROUP;

@group(0) @binding(6) var<storage, read_write> rows: array<vec4<u32>>;  // [sequence][vector]

#if ELEMENT_BYTES == 8
alias Unit = vec2<u32>;
fn unit_at(number: u32) -> Unit { return vec2<u32>(input_word(2u * number), input_word(2u * number + 1u)); }
#else
alias Unit = u32;
fn unit_at(number: u32) -> Unit { return input_word(number); }
#endif

var<workgroup> tile: array<Unit, ROOM + 1u>;  // [run][unit]

// `start`: element of the first item of the first column.
struct Tile { sequence: u32, columns: u32, first: u32, live: bool, start: u32 }

fn tile_of(id: u32) -> Tile {
  let columns = params.neighbours;
  let across = (columns + params.tile_columns - 1u) / params.tile_columns;
  let first_column = id % across * params.tile_columns;
  let number = id / across % params.tiles;
  let sequence = id / across / params.tiles * columns + first_column;
  let live = sequence < params.sequences;
  let first = number * params.tile;
  let start = sequence_offsets(min(sequence, params.sequences - 1u)).x + first * params.axes[0].y;
  return Tile(sequence, min(params.tile_columns, columns - first_column), first, live, start);
}

// Odd, so that items of one column lie in different banks.
fn pitch() -> u32 { return params.run_units | 1u; }

// A place in a table with `size` columns: x is the column, y the row.
fn place_of_number(number: u32, size: u32) -> vec2<u32> { return vec2<u32>(number % size, number / size); }

// The place `by` further on. A division would take more than all else of a copy.
fn onward(place: vec2<u32>, by: vec2<u32>, size: u32) -> vec2<u32> {
  let next = place + by;
  return select(next, vec2<u32>(next.x - size, next.y + 1u), next.x >= size);
}

fn read_tile(at: Tile, local: u32) {
  let step = params.axes[0].y;
  // The unit of the last item of the last column. Behind it nothing is read.
  let last = (at.start + (params.axes[0].x - 1u - at.first) * step + at.columns - 1u) / PER_UNIT;
  let run_step = params.run_items * step;
  let runs = params.tile / params.run_items;
  let by = place_of_number(WORKGROUP, params.run_units);
  let place0 = place_of_number(local, params.run_units);
#for u in UNITS
  let unit$u = unit_at(min((at.start + place$u.y * run_step) / PER_UNIT + place$u.x, last));
  let place$[u + 1] = onward(place$u, by, params.run_units);
#endfor
#for u in UNITS
  if (place$u.y < runs) { tile[place$u.y * pitch() + place$u.x] = unit$u; }
#endfor
}

// Where the items of a vector lie.
struct Items {
  run: u32,       // the unit where the first one's run begins
  run_step: u32,  // units from run to run, where each item has its own
  start: u32,     // element of memory: a run begins anywhere in its first unit
  turn: u32,      // elements of memory from run to run, where each item has its own
  step: u32,      // elements from item to item of one run
}

fn items_of(at: Tile, vector: u32) -> Items {
  let step = params.axes[0].y;
  let first = vector * (16u / ELEMENT_BYTES);
  let alone = params.run_items == 1u;
  let run = select(vector, first, alone) * pitch();
  return Items(run, select(0u, pitch(), alone), at.start + first * step, select(0u, step, alone), select(step, 0u, alone));
}

// The q-th item's elements of PER_UNIT columns. A last one's next unit only fills columns that are
// not written.
fn unit_of(items: Items, column: u32, q: u32) -> Unit {
  let place = (items.start + q * items.turn) % PER_UNIT + column + q * items.step;
  let unit = items.run + q * items.run_step + place / PER_UNIT;
#if PER_UNIT > 1
  let shift = place % PER_UNIT * (8u * ELEMENT_BYTES);
  return (tile[unit] >> shift) | ((tile[unit + 1u] << 1u) << (31u - shift));
#else
  return tile[unit];
#endif
}

// Of two words: the low halves, and the high ones; the even bytes by turns, and the odd ones.
fn halves(a: u32, b: u32) -> vec2<u32> { return vec2<u32>((a & 0xffffu) | (b << 16u), (a >> 16u) | (b & 0xffff0000u)); }
fn bytes(a: u32, b: u32) -> vec2<u32> {
  return vec2<u32>((a & 0xff00ffu) | ((b & 0xff00ffu) << 8u), ((a >> 8u) & 0xff00ffu) | (b & 0xff00ff00u));
}

// A vector of each of PER_UNIT columns.
fn vectors_of(items: Items, column: u32) -> array<vec4<u32>, PER_UNIT> {
  var columns: array<vec4<u32>, PER_UNIT>;
#if ELEMENT_BYTES == 8
  columns[0] = vec4<u32>(unit_of(items, column, 0u), unit_of(items, column, 1u));
#else
#for w in 4
#if PER_UNIT == 4
  let first_two$w = bytes(unit_of(items, column, $[4 * w]u), unit_of(items, column, $[4 * w + 1]u));
  let last_two$w = bytes(unit_of(items, column, $[4 * w + 2]u), unit_of(items, column, $[4 * w + 3]u));
  let even$w = halves(first_two$w.x, last_two$w.x);
  let odd$w = halves(first_two$w.y, last_two$w.y);
  columns[0][$w] = even$w.x;
  columns[1][$w] = odd$w.x;
  columns[2][$w] = even$w.y;
  columns[3][$w] = odd$w.y;
#endif
#if PER_UNIT == 2
  let pair$w = halves(unit_of(items, column, $[2 * w]u), unit_of(items, column, $[2 * w + 1]u));
  columns[0][$w] = pair$w.x;
  columns[1][$w] = pair$w.y;
#endif
#if PER_UNIT == 1
  columns[0][$w] = unit_of(items, column, $wu);
#endif
#endfor
#endif
  return columns;
}

fn run(workgroup: u32, local: u32) {
  let at = tile_of(workgroup);
  if (at.live) { read_tile(at, local); }
  workgroupBarrier();
  let row_vectors = (params.axes[0].x * ELEMENT_BYTES + 31u) / 32u * 2u;
  let first_vector = at.first * ELEMENT_BYTES / 16u;
  let vectors = select(0u, min(params.tile * ELEMENT_BYTES / 16u, row_vectors - first_vector), at.live);
  let groups = (at.columns + PER_UNIT - 1u) / PER_UNIT;  // of columns
  let by = place_of_number(WORKGROUP / 2u, groups);
  // Neighbours write two vectors of a row, which memory takes whole.
  for (var place = place_of_number(local / 2u, groups); 2u * place.y < vectors; place = onward(place, by, groups)) {
    let vector = 2u * place.y + local % 2u;
    let column = place.x * PER_UNIT;
    let row = (at.sequence + column) * row_vectors + first_vector + vector;
    var found = vectors_of(items_of(at, vector), column);
#for i in PER_UNIT
    if (column + $iu < at.columns) { rows[row + $iu * row_vectors] = found[$i]; }
#endfor
  }
}
