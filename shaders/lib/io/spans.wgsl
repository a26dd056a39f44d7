// What of a sequence takes part, in this dispatch's piece of the axis: spans -> positions, pairs.
//
// Positions count from the first item that takes part, and indices from the first of all pieces.
// An algorithm may need more items than take part. Those that follow are visited too, up to
// params.least of all. They have the last key and indices behind all others: nothing precedes them.
// Where the last index of several wins (params.index_flip), items without a part are nothing.
//   RAGGED  1 where sequences have spans of their own, else all items of all take part
#import order/pair
#import io/input

// The last key that an element can have: bits that no element uses are zeros, as sorts expect.
#if KEY_WORDS == 1
const LAST_OF_ELEMENTS: Key = (LAST_KEY >> (32u - 8u * ELEMENT_BYTES)) << (32u - 8u * ELEMENT_BYTES);
#else
const LAST_OF_ELEMENTS: Key = LAST_KEY;
#endif

#if RAGGED

#import io/span_table

struct Span {
  shift: u32,  // The first position, from the piece's beginning.
  items: u32,  // Items that are visited.
  real: u32,   // Items that take part, before any others.
  first: u32,  // Index of the first item.
  jump: u32,   // Indices that items in other pieces have, between those that take part and others.
}

fn items_in(span: Span) -> u32 { return span.items; }

#if MANY_AXIS_DIMS

// All of a box is visited, whatever the order of its indices. `first` is the span's start.
fn span_of(sequence: u32) -> Span { return Span(0u, params.length, spans[sequence].y, spans[sequence].x, 0u); }
fn step_in(span: Span, position: u32) -> vec2<u32> { return axis_step(position); }
fn index_in(span: Span, position: u32) -> u32 { return axis_step(position).y + params.first_index - span.first; }
fn position_in(span: Span, index: u32) -> u32 { return index + span.first - params.first_index; }
fn pair_in(span: Span, position: u32, step: u32, key: Key) -> Pair {
  let index = step + params.first_index - span.first;
  let real = index < span.real;
  return Pair(select(LAST_OF_ELEMENTS, key, real), select(NO_INDEX, index ^ params.index_flip, real));
}

#else

fn span_of(sequence: u32) -> Span {
  let whole = spans[sequence];
  let end = whole.x + whole.y;
  let piece = params.first_index;
  let behind = piece + params.axes[0].x;
  let begin = clamp(whole.x, piece, behind);
  let real = clamp(end, piece, behind) - begin;
  let earlier = clamp(piece, whole.x, end) - whole.x;  // items in pieces before
  return Span(min(begin - piece, params.axes[0].x - 1u), clamp(real, params.least, params.length), real,
              earlier, whole.y + piece - 2u * earlier - real);
}

// Element offset (x) of a position, and its step of the index (y). None lies behind the piece.
fn step_in(span: Span, position: u32) -> vec2<u32> {
  let inside = min(position, params.axes[0].x - 1u - span.shift);
  return vec2<u32>((span.shift + inside) * params.axes[0].y, position);
}
fn index_in(span: Span, position: u32) -> u32 { return position + span.first + select(0u, span.jump, position >= span.real); }
// An index that no item of this piece has stands for the first item behind those that take part.
fn position_in(span: Span, index: u32) -> u32 {
  let position = index - span.first;
  return select(position, max(position, span.real + span.jump) - span.jump, position >= span.real);
}
fn pair_in(span: Span, position: u32, step: u32, key: Key) -> Pair {
  let real = position < span.real;
  return Pair(select(LAST_OF_ELEMENTS, key, real),
              select(NO_INDEX, index_in(span, position) ^ params.index_flip, real | (params.index_flip == 0u)));
}

#endif
#else

alias Span = u32;  // Of no meaning: all items of all sequences take part.

fn span_of(sequence: u32) -> Span { return 0u; }
fn items_in(span: Span) -> u32 { return params.length; }
fn step_in(span: Span, position: u32) -> vec2<u32> { return axis_step(position); }
fn index_in(span: Span, position: u32) -> u32 { return axis_step(position).y + params.first_index; }
fn position_in(span: Span, index: u32) -> u32 { return index - params.first_index; }
fn pair_in(span: Span, position: u32, step: u32, key: Key) -> Pair { return Pair(key, (step + params.first_index) ^ params.index_flip); }

#endif
