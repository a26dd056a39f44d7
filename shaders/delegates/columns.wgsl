// Delegates of each column's strided subsets: input -> sink (delegates), second_keys.
//
// Subset p holds the rows p, p + subsets, ... Its delegate is its best pair. Its second key is the
// least key of the others. A workgroup serves ACROSS loads side by side by params.team rows.
// An invocation makes params.spans delegates of each column, one after the other.
//   SHARED  1 where a team's rows share a subset; else each row is one
//   UNROLL  rows under way at once, and TAIL at the end of a run. No item may be met twice.
#import io/columns
#import workgroup/column_rows
#import io/spans
#import io/sink

alias Seconds = array<Key, PER_LOAD>;

struct Delegates { bests: Bests, seconds: Seconds }

@group(0) @binding(6) var<storage, read_write> second_keys: array<Key>;

var<workgroup> team_seconds: array<Key, WORKGROUP * TOGETHER>;

fn put_delegate(start: Target, subset: u32, best: Pair, second: Key) {
  put_to(start, subset, best);
  second_keys[start + subset * params.sink_item_step] = second;
}

// Of the rows first, first + stride, ... of each column from an offset on.
fn delegates_of_rows(start: u32, span: Span, first: u32, stride: u32) -> Delegates {
  let end = items_in(span);
  var bests = no_bests(NO_INDEX);
  var seconds: Seconds;
#for c in PER_LOAD
  seconds[$c] = LAST_KEY;
#endfor
  if (first >= end) { return Delegates(bests, seconds); }
  bests = no_bests(index_in(span, first));
  var r = first;
  for (; r + (UNROLL - 1u) * stride < end; r += UNROLL * stride) {
#for u in UNROLL
    let step$u = step_in(span, r + $uu * stride);
    let data$u = load(start + step$u.x);
#endfor
#for u in UNROLL
#for c in PER_LOAD
    let pair$[u]x$c = pair_in(span, r + $uu * stride, step$u.y, key_in(data$u, $cu));
    seconds[$c] = key_min(seconds[$c], key_max(pair$[u]x$c.key, bests[$c].key));
    bests[$c] = better(pair$[u]x$c, bests[$c]);
#endfor
#endfor
  }
  // The rest. Beyond the end stands a real position with the last key, which wins nothing.
  for (; r < end; r += TAIL * stride) {
#for u in TAIL
    let row$u = min(r + $uu * stride, end - 1u);
    let step$u = step_in(span, row$u);
    let data$u = load(start + step$u.x);
#endfor
#for u in TAIL
    let inside$u = r + $uu * stride < end;
#for c in PER_LOAD
    let pair$[u]x$c = pair_in(span, row$u, step$u.y, select(LAST_KEY, key_in(data$u, $cu), inside$u));
    seconds[$c] = key_min(seconds[$c], key_max(pair$[u]x$c.key, bests[$c].key));
    bests[$c] = better(pair$[u]x$c, bests[$c]);
#endfor
#endfor
  }
  return Delegates(bests, seconds);
}

#if SHARED
// An invocation for each column of those TOGETHER from `column` on: the rows are one subset's.
fn put_rows(local: u32, first_load: u32, column: u32, part: u32, span: u32) {
  let at = columns_at(first_load + local % ACROSS);
  for (var t = local / ACROSS; t < TOGETHER; t += params.team) {
    let first = t * WORKGROUP + local % ACROSS;
    var best = pair_of(team_rows[first]);
    var second = team_seconds[first];
    for (var row = 1u; row < params.team; row += 4u) {
#for u in 4
      let place$u = first + min(row + $uu, params.team - 1u) * ACROSS;
      let inside$u = row + $uu < params.team;
      let other$u = pair_of(team_rows[place$u]);
      let key$u = select(LAST_KEY, other$u.key, inside$u);
      second = select(second, key_min(second, team_seconds[place$u]), inside$u);
      second = key_min(second, key_max(key$u, best.key));
      if (inside$u & before(other$u, best)) { best = other$u; }
#endfor
    }
    if (has_column(at, column + t)) {
      put_delegate(target_beside(target_of(at.sequence), column + t), span * params.parts + part, best, second);
    }
  }
}
#else
// An invocation for each row, so that neighbours write a sequence's subsets side by side.
fn put_rows(local: u32, first_load: u32, column: u32, part: u32, span: u32) {
  let load = local >> firstTrailingBit(params.team);
  let at = columns_at(first_load + load);
  let row = local & (params.team - 1u);
  let subset = (span * params.parts + part) * params.team + row;
  let start = target_of(at.sequence);
#for t in TOGETHER
  if (has_column(at, column + $tu)) {
    let place$t = $tu * WORKGROUP + row * ACROSS + load;
    put_delegate(target_beside(start, column + $tu), subset, pair_of(team_rows[place$t]), team_seconds[place$t]);
  }
#endfor
}
#endif

// The first row of an invocation's subset, or of its share of it.
fn first_row(part: u32, span: u32, row: u32) -> u32 {
  return select((span * params.parts + part) * params.team + row, part + (span + row * params.spans) * params.parts, SHARED > 0u);
}

fn run(workgroup: u32, local: u32) {
  let blocks = (column_loads() + ACROSS - 1u) / ACROSS;
  let part = workgroup / blocks;
  if (part >= params.parts) { return; }
  let first_load = workgroup % blocks * ACROSS;
  let at = columns_at(first_load + local % ACROSS);
  let start = column_offsets(at).x;
  let column = span_of(at.sequence);
  for (var span = 0u; span < params.spans; span++) {
    let row = first_row(part, span, local / ACROSS);
    let stride = params.parts * params.team * params.spans;
    var found = delegates_of_rows(start, column, select(params.length, row, at.live), stride);
#for c in PER_LOAD
    team_rows[$[c % TOGETHER]u * WORKGROUP + local] = store_of(found.bests[$c]);
    team_seconds[$[c % TOGETHER]u * WORKGROUP + local] = found.seconds[$c];
#if $[c % TOGETHER + 1] == TOGETHER
    workgroupBarrier();
    put_rows(local, first_load, $[c + 1 - TOGETHER]u, part, span);
    workgroupBarrier();
#endif
#endfor
  }
}
