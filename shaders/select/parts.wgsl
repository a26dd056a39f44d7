// The first k pairs of every part of the long spans, in order; or, from the parts' pairs, of the
// spans themselves: source -> sink. About one read.
//
// As select/teams.wgsl, by workgroups that take one part after the other, as many as there are. So
// the work is cut by items: a span of many has many parts, and no workgroup waits for one.
//
// Words: parts asked for, spans beyond the room, long spans, nothing. Then four for each long span:
// its sequence, the place of its first part, its parts. Then the number of each place's long span.
//   params.tiles  room for parts
//   SOURCE_PAIRS  1 where the parts' pairs are the source
#import workgroup/same
#import workgroup/team_select

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

fn team_with(local: u32, sequence: u32, row: Row, begin: u32, end: u32) -> Team {
  let members = (end - begin + team_size() - 1u) / team_size();
  return Team(0u, local, true, sequence, 0u, row, begin, end, members, team_size());
}

#if SOURCE_PAIRS

fn total() -> u32 { return long_spans(); }

fn team_of(number: u32, local: u32) -> Team {
  let span = long_span(number);
  let row = Row(params.source_base + span.first * params.source_step, 0u, span.parts * params.source_step);
  return team_with(local, span.sequence, row, 0u, row.loads);
}

#else

fn total() -> u32 { return parts_with_places(); }

fn team_of(number: u32, local: u32) -> Team {
  let place = place_of_part(number);
  let span = span_of_place(place);
  let row = row_of(span.sequence);
  let chunk = (row.loads + span.parts - 1u) / span.parts;
  let begin = min((place - span.first) * chunk, row.loads);
  return team_with(local, place, row, begin, min(begin + chunk, row.loads));
}

#endif

fn run(workgroup: u32, local: u32) {
  if (workgroup >= params.workgroups) { return; }
  let end = same_for_all(local, total());
  for (var number = workgroup; number < end; number += params.workgroups) {
    workgroupBarrier();
    select_of_team(team_of(number, local), local);
  }
}
