// The best pair of every part of every column: input -> sink.
//
// A workgroup serves ACROSS loads by params.team rows. Part p takes the rows p * team + y, and
// every parts * team-th after. Neighbouring invocations take params.beside loads that lie side by
// side, then the next row's, so that reads coalesce however few columns there are.
//   UNROLL      rows under way at once
//   TREE        1 where a workgroup has several rows; they meet in its memory
//   TRANSPOSED  1 where results change invocations, so that neighbours write side by side
#import io/columns
#import io/spans
#import io/sink
#if TREE
#import workgroup/column_rows
#endif
#if TRANSPOSED
var<workgroup> results: array<Stored, WORKGROUP * PER_LOAD>;  // [load][column]
#endif

#if SINK_PAIRS
fn column_target(at: Columns) -> Target { return target_of(at.sequence); }
#else
fn column_target(at: Columns) -> Target { return Target(column_offsets(at), at.sequence); }
#endif

// An invocation's load of its workgroup's, and its row of the team; of no row where it is idle.
struct Lane { load: u32, row: u32 }

fn lane_of(local: u32) -> Lane {
#if TREE
  let block = local / params.beside;
  // A team is a power of two: a shift and a mask in place of divisions.
  let load = (block >> firstTrailingBit(params.team)) * params.beside + local % params.beside;
  return Lane(load, select(block & (params.team - 1u), params.team, load >= ACROSS));
#else
  return Lane(local, 0u);
#endif
}

// The best of the rows first, first + stride, ... of each column from an offset on.
fn best_of_rows(start: u32, span: Span, first: u32, stride: u32) -> Bests {
  let end = items_in(span);
  if (first >= end) { return no_bests(NO_INDEX); }
  var bests = no_bests(select(NO_INDEX, index_in(span, first), IN_ORDER > 0u));
  for (var r = first; r < end; r += UNROLL * stride) {
#for u in UNROLL
    let row$u = min(r + $uu * stride, end - 1u);  // the last item, maybe again
    let step$u = step_in(span, row$u);
    let data$u = load(start + step$u.x);
#endfor
#for u in UNROLL
#for c in PER_LOAD
    bests[$c] = better(pair_in(span, row$u, step$u.y, key_in(data$u, $cu)), bests[$c]);
#endfor
#endfor
  }
  return bests;
}

#if TREE
// TOGETHER columns of each load at a time: rows in memory, then an invocation a column.
fn put_bests(lane: Lane, first_load: u32, at: Columns, part: u32, bests: Bests) {
  let place = lane.row * ACROSS + lane.load;
  let target_ = column_target(at);
#for c in PER_LOAD
  if (lane.row < params.team) { team_rows[$[c % TOGETHER]u * WORKGROUP + place] = store_of(bests[$c]); }
#if $[c % TOGETHER + 1] == TOGETHER
  workgroupBarrier();
  let rows$c = halve_rows(place, lane.row);
  if (lane.row < params.team) {
    for (var t = lane.row; t < TOGETHER; t += params.team) {
      let best = best_of_column(t * WORKGROUP + lane.load, rows$c);
      let column = $[c + 1 - TOGETHER]u + t;
      if (has_column(at, column)) { put_to(target_beside(target_, column), part, best); }
    }
  }
  workgroupBarrier();
#endif
#endfor
}
#endif

#if TRANSPOSED
fn put_bests(lane: Lane, first_load: u32, at: Columns, part: u32, bests: Bests) {
  let local = lane.load;
#for c in PER_LOAD
  results[local * PER_LOAD + $cu] = store_of(bests[$c]);
#endfor
  workgroupBarrier();
#for c in PER_LOAD
  {
    let place = $cu * WORKGROUP + local;
    let other = columns_at(first_load + place / PER_LOAD);
    if (has_column(other, place % PER_LOAD)) {
      put_to(target_of(other.sequence + place % PER_LOAD), part, pair_of(results[place]));
    }
  }
#endfor
}
#endif

#if !TREE && !TRANSPOSED
fn put_bests(lane: Lane, first_load: u32, at: Columns, part: u32, bests: Bests) {
  let target_ = column_target(at);
#for c in PER_LOAD
  if (has_column(at, $cu)) { put_to(target_beside(target_, $cu), part, bests[$c]); }
#endfor
}
#endif

fn run(workgroup: u32, local: u32) {
  let blocks = (column_loads() + ACROSS - 1u) / ACROSS;
  let part = workgroup / blocks;
  if (part >= params.parts) { return; }
  let first_load = workgroup % blocks * ACROSS;
  let lane = lane_of(local);
  let at = columns_at(first_load + lane.load);
  var bests = no_bests(NO_INDEX);
  if (at.live && lane.row < params.team) {
    let first = part * params.team + lane.row;
    bests = best_of_rows(column_offsets(at).x, span_of(at.sequence), first, params.parts * params.team);
  }
  put_bests(lane, first_load, at, part, bests);
}
