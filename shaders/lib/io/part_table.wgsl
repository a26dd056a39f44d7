// The parts of long spans, as util/parts.wgsl lists them.
//
// Words: parts asked for, spans beyond the room, long spans, nothing. Then four for each long span:
// its sequence, the place of its first part, its parts. Then the number of each place's long span.
//   params.tiles  room for parts
#import io/params

@group(0) @binding(9) var<storage, read_write> part_table: array<u32>;

struct LongSpan { sequence: u32, first: u32, parts: u32 }

fn long_spans() -> u32 { return part_table[2]; }

fn long_span(number: u32) -> LongSpan {
  return LongSpan(part_table[4u + 4u * number], part_table[5u + 4u * number], part_table[6u + 4u * number]);
}

fn parts_with_places() -> u32 { return min(part_table[0], params.tiles) + part_table[1]; }

// The place of a part: those beyond the room follow it.
fn place_of_part(number: u32) -> u32 {
  let roomy = min(part_table[0], params.tiles);
  return select(params.tiles + number - roomy, number, number < roomy);
}

fn span_of_place(place: u32) -> LongSpan { return long_span(part_table[4u + 4u * params.sequences + place]); }
