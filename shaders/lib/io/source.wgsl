// Where a kernel's items come from: one load gives PER_LOAD items, each a pair in the wanted order.
// Exactly one of these constants is 1:
//   SOURCE_ROWS      elements of a contiguous axis, LOAD_WORDS words a load (binding 1)
//   SOURCE_ELEMENTS  elements anywhere, by strides, one a load (binding 1)
//   SOURCE_PAIRS     pairs made by an earlier dispatch, one a load (bindings 2 and 3)
//   SPREAD           1 where pairs are items of an axis, and their indices count along another
//   COUNTED          1 where binding 8 counts the pairs, from k to params.length; else k
//   INDEX_FLIP       0xffffffff where the last index of several wins, else 0
#import order/pair
#import io/params

struct Row {
  start: u32,     // rows: load in the window; elements: offset; pairs: pair. Of the first item.
  skew: u32,      // rows: items of the first load that come before the sequence
  loads: u32,     // loads that cover the sequence
}

#if SOURCE_PAIRS

#if COUNTED
@group(0) @binding(8) var<storage, read_write> source_counts: array<u32>;  // [sequence]
#endif
@group(0) @binding(2) var<storage, read_write> source_keys: array<Key>;
@group(0) @binding(3) var<storage, read_write> source_indices: array<u32>;

alias Load = Pair;

fn row_of(sequence: u32) -> Row {
  var length = params.length;
#if COUNTED
  let count = source_counts[sequence];
  length = select(params.k, count, params.k <= count && count <= params.length);
#endif
#if SPREAD
  let outer = sequence / params.spread_inner;
  let place = outer * params.source_step + (sequence - outer * params.spread_inner);
#else
  let place = sequence * params.source_step;
#endif
  return Row(params.source_base + place, 0u, length);
}
fn load(row: Row, v: u32) -> Load {
  let at = row.start + v * params.source_item_step;
#if SPREAD
  let along = (source_indices[at] ^ INDEX_FLIP) * params.spread_scale;
  return Pair(source_keys[at], (along + v * params.spread_step + params.first_index) ^ INDEX_FLIP);
#else
  return Pair(source_keys[at], source_indices[at]);
#endif
}
fn item(row: Row, v: u32, data: Load, c: u32) -> Pair {
  if (v < row.loads) { return data; }
  return last_pair();
}
fn key_in(data: Load, c: u32) -> Key { return data.key; }

#else

#import io/input

#if SOURCE_ROWS

#if LOAD_WORDS == 4
alias Load = vec4<u32>;
fn load(row: Row, v: u32) -> Load { return input[row.start + v]; }
#endif
#if LOAD_WORDS == 2
alias Load = vec2<u32>;
fn load(row: Row, v: u32) -> Load { return vec2<u32>(input[2u * (row.start + v)], input[2u * (row.start + v) + 1u]); }
#endif
#if LOAD_WORDS == 1
alias Load = array<u32, 1>;
fn load(row: Row, v: u32) -> Load { return array<u32, 1>(input[row.start + v]); }
#endif

fn row_of(sequence: u32) -> Row {
  let offset = sequence_offsets(sequence).x;
  let skew = offset % PER_LOAD;
  return Row(offset / PER_LOAD, skew, (skew + params.length + PER_LOAD - 1u) / PER_LOAD);
}

fn bits_of(data: Load, c: u32) -> Key {
  let word = word_of_element(c);
#if KEY_WORDS == 1
  return bits_in_word(data[word], c);
#else
  return Key(data[word + 1u], data[word]);
#endif
}

fn key_in(data: Load, c: u32) -> Key { return key_of(bits_of(data, c)); }

// The indices of a load's last item and of its first, also of a load behind the last one.
fn last_index_in(row: Row, v: u32) -> u32 {
  return min(v * PER_LOAD + (PER_LOAD - 1u) - row.skew, params.length - 1u) + params.first_index;
}

fn first_index_in(row: Row, v: u32) -> u32 { return max(v * PER_LOAD, row.skew) - row.skew + params.first_index; }

// The load with an index, where the sequence has one axis.
fn load_of(row: Row, index: u32) -> u32 { return (index - params.first_index + row.skew) / PER_LOAD; }

// The loads from the first to before the end hold the sequence's items only: no tests.
fn first_whole(row: Row) -> u32 { return select(0u, 1u, row.skew > 0u); }
fn end_whole(row: Row) -> u32 { return (row.skew + params.length) / PER_LOAD; }

fn item(row: Row, v: u32, data: Load, c: u32) -> Pair {
  let position = v * PER_LOAD + c - row.skew;
  let inside = position < params.length;
  return Pair(select(LAST_KEY, key_in(data, c), inside),
              select(NO_INDEX, (position + params.first_index) ^ INDEX_FLIP, inside));
}

#else

alias Load = Pair;

fn row_of(sequence: u32) -> Row {
  return Row(sequence_offsets(sequence).x, 0u, params.length);
}

fn load(row: Row, v: u32) -> Load {
  let step = axis_step(v);
  return Pair(key_of(element_at(row.start + step.x)), (step.y + params.first_index) ^ INDEX_FLIP);
}

fn item(row: Row, v: u32, data: Load, c: u32) -> Pair {
  if (v < params.length) { return data; }
  return last_pair();
}

fn key_in(data: Load, c: u32) -> Key { return data.key; }
fn last_index_in(row: Row, v: u32) -> u32 { return axis_step(v).y + params.first_index; }
fn first_index_in(row: Row, v: u32) -> u32 { return last_index_in(row, v); }
fn load_of(row: Row, index: u32) -> u32 { return index - params.first_index; }

#endif
#endif

#if !SOURCE_PAIRS
fn index_at(position: u32) -> u32 { return (axis_step(position).y + params.first_index) ^ INDEX_FLIP; }
#endif

#if !SOURCE_ROWS
fn first_whole(row: Row) -> u32 { return 0u; }
fn end_whole(row: Row) -> u32 { return row.loads; }
#endif

// The pair at a position below params.length; nothing where the sequence has fewer.
fn pair_within(row: Row, position: u32) -> Pair {
#if SOURCE_PAIRS
#if COUNTED
  if (position >= row.loads) { return last_pair(); }
#endif
  return load(row, position);
#else
  let v = (position + row.skew) / PER_LOAD;
  return item(row, v, load(row, v), (position + row.skew) % PER_LOAD);
#endif
}

// The pair at a position of the sequence, or nothing past its end.
fn pair_at(row: Row, position: u32) -> Pair {
#if SOURCE_PAIRS
  if (position >= row.loads) { return last_pair(); }
#else
  if (position >= params.length) { return last_pair(); }
#endif
  return pair_within(row, position);
}
