// Where a kernel's items come from: one load gives PER_LOAD items, each a pair in the wanted order.
// They are elements anywhere, by strides, one a load (binding 1), but where a constant is 1:
//   SOURCE_ROWS   elements of a contiguous axis, LOAD_WORDS words a load (binding 1)
//   SOURCE_PAIRS  pairs made by an earlier dispatch, one a load (bindings 2 and 3)
// Of these items:
//   SPREAD        1 where pairs are items of an axis, and their indices count along another
//   COUNTED       1 where binding 8 counts the pairs, from k to params.length; else k
//   RAGGED        1 where elements have spans (lib/io/spans.wgsl): a sequence is its span
#import order/pair
#import io/params
#if !SOURCE_PAIRS
#import io/spans
#endif

struct Row {
  start: u32,     // rows: load in the window; elements: offset; pairs: pair. Of the first item.
  skew: u32,      // rows: items of the first load that come before the sequence
  loads: u32,     // loads that cover the sequence
#if !SOURCE_PAIRS
  span: Span,
#endif
#if RAGGED && SOURCE_ROWS
  last: u32,      // the last load that may be read
#endif
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
  let along = (source_indices[at] ^ params.index_flip) * params.spread_scale;
  return Pair(source_keys[at], (along + v * params.spread_step + params.first_index) ^ params.index_flip);
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

#if RAGGED
fn row_of(sequence: u32) -> Row {
  let base = sequence_offsets(sequence).x;
  let span = span_of(sequence);
  let offset = base + span.shift;
  let skew = offset % PER_LOAD;
  let last = (base + params.axes[0].x - 1u) / PER_LOAD;
  return Row(offset / PER_LOAD, skew, (skew + span.items + PER_LOAD - 1u) / PER_LOAD, span, last);
}
fn place_of_load(row: Row, v: u32) -> u32 { return min(row.start + v, row.last); }
fn element_of_place(row: Row, place: u32) -> u32 { return min(row.start * PER_LOAD + place, row.last * PER_LOAD + PER_LOAD - 1u); }
fn real_items(row: Row) -> u32 { return row.span.real; }
#else
fn row_of(sequence: u32) -> Row {
  let offset = sequence_offsets(sequence).x;
  let skew = offset % PER_LOAD;
  return Row(offset / PER_LOAD, skew, (skew + params.length + PER_LOAD - 1u) / PER_LOAD, span_of(sequence));
}
fn place_of_load(row: Row, v: u32) -> u32 { return row.start + v; }
fn element_of_place(row: Row, place: u32) -> u32 { return row.start * PER_LOAD + place; }
fn real_items(row: Row) -> u32 { return params.length; }
#endif

#if LOAD_WORDS == 4
alias Load = vec4<u32>;
fn load(row: Row, v: u32) -> Load { return input[place_of_load(row, v)]; }
// By comparisons, as registers have no numbers: the word may be any.
fn word_in(data: Load, w: u32) -> u32 { return select(select(data.x, data.y, w == 1u), select(data.z, data.w, w == 3u), w > 1u); }
#endif
#if LOAD_WORDS == 2
alias Load = vec2<u32>;
fn load(row: Row, v: u32) -> Load { return vec2<u32>(input[2u * place_of_load(row, v)], input[2u * place_of_load(row, v) + 1u]); }
fn word_in(data: Load, w: u32) -> u32 { return select(data.x, data.y, w == 1u); }
#endif
#if LOAD_WORDS == 1
alias Load = array<u32, 1>;
fn load(row: Row, v: u32) -> Load { return Load(input[place_of_load(row, v)]); }
fn word_in(data: Load, w: u32) -> u32 { return data[0]; }
#endif

fn bits_of(data: Load, c: u32) -> Key {
  let word = word_of_element(c);
#if KEY_WORDS == 1
  return bits_in_word(word_in(data, word), c);
#else
  return Key(word_in(data, word + 1u), word_in(data, word));
#endif
}

fn key_in(data: Load, c: u32) -> Key { return key_of(bits_of(data, c)); }

// The key of the item at a place, counted from the first load's first item, by a read of its own;
// and the pair of one whose key is known.
fn key_there(row: Row, place: u32) -> Key { return key_of(element_at(element_of_place(row, place))); }
fn pair_there(row: Row, place: u32, key: Key) -> Pair {
  let position = place - row.skew;
  return pair_in(row.span, position, position, key);
}

// The indices of a load's last item and of its first, also of a load behind the last one.
fn last_index_in(row: Row, v: u32) -> u32 {
  return index_in(row.span, min(v * PER_LOAD + (PER_LOAD - 1u) - row.skew, items_in(row.span) - 1u));
}

fn first_index_in(row: Row, v: u32) -> u32 { return index_in(row.span, max(v * PER_LOAD, row.skew) - row.skew); }

// The load with an index, where the sequence has one axis.
fn load_of(row: Row, index: u32) -> u32 { return (position_in(row.span, index) + row.skew) / PER_LOAD; }

// The loads from the first to before the end hold the sequence's items only: no tests.
fn first_whole(row: Row) -> u32 { return select(0u, 1u, row.skew > 0u); }
fn end_whole(row: Row) -> u32 { return (row.skew + real_items(row)) / PER_LOAD; }

fn item(row: Row, v: u32, data: Load, c: u32) -> Pair {
  let position = v * PER_LOAD + c - row.skew;
  return select_pair(last_pair(), pair_in(row.span, position, position, key_in(data, c)), position < items_in(row.span));
}

#else

alias Load = Pair;

fn row_of(sequence: u32) -> Row {
  let span = span_of(sequence);
  return Row(sequence_offsets(sequence).x, 0u, items_in(span), span);
}

fn load(row: Row, v: u32) -> Load {
  let step = step_in(row.span, v);
  return pair_in(row.span, v, step.y, key_of(element_at(row.start + step.x)));
}

fn item(row: Row, v: u32, data: Load, c: u32) -> Pair {
  if (v < items_in(row.span)) { return data; }
  return last_pair();
}

fn key_in(data: Load, c: u32) -> Key { return data.key; }
fn last_index_in(row: Row, v: u32) -> u32 { return index_in(row.span, v); }
fn first_index_in(row: Row, v: u32) -> u32 { return index_in(row.span, v); }
fn load_of(row: Row, index: u32) -> u32 { return position_in(row.span, index); }

#endif
#endif

// Items of a sequence.
#if SOURCE_PAIRS
fn items_of(row: Row) -> u32 { return row.loads; }
fn index_at(row: Row, position: u32) -> u32 { return source_indices[row.start + position * params.source_item_step]; }
#else
fn items_of(row: Row) -> u32 { return items_in(row.span); }
fn index_at(row: Row, position: u32) -> u32 { return index_in(row.span, position) ^ params.index_flip; }
#endif

#if !SOURCE_ROWS
fn real_items(row: Row) -> u32 { return items_of(row); }  // Loads give the others the last key.
fn first_whole(row: Row) -> u32 { return 0u; }
fn end_whole(row: Row) -> u32 { return row.loads; }
#endif
