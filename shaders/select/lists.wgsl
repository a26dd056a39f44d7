// The first k pairs of every short column, in order, for a small k: input -> sink.
//
// A team of params.team invocations, a power of two, serves a sequence. Each keeps a sorted list of
// K pairs in registers. Its loads fall into groups of UNROLL, AHEAD under way at a time. It inserts
// the groups' best items, their delegates, in order. The first K items lie in the groups of the K
// left, whose other items it inserts then. A tree merges the team's lists.
//   K       one of a few numbers from params.k on
//   UNROLL  loads of a group, an item each
//   SHARED  0 where a team is one invocation
#import io/source
#import io/sink

#if SHARED
fn team_size() -> u32 { return params.team; }
#else
fn team_size() -> u32 { return 1u; }
#endif

alias List = array<Pair, K>;  // Of pairs in order.

// All that follow move on by one. `latest`: no pair of the list has a later index, so that keys
// tell and ties stay behind.
fn insert(list: ptr<function, List>, pair: Pair, latest: bool) {
  var carried = pair;
#for i in K
  {
    let old = (*list)[$i];
    let wins = select(before(pair, old), key_less(pair.key, old.key), latest);
    (*list)[$i] = select_pair(old, carried, wins);
    carried = select_pair(carried, old, wins);
  }
#endfor
}

alias Loads = array<Load, UNROLL>;  // Of a group, team_size() apart.

// The best item of a group from the load `q` on, whichever of them are the sequence's.
fn best_of_group(row: Row, q: u32, end: u32, loads: Loads) -> Pair {
  var best = last_pair();
#for u in UNROLL
  if (q + $uu * team_size() < end) {
    let candidate = item(row, q + $uu * team_size(), loads[$u], 0u);
    if (key_less(candidate.key, best.key) | (best.index == NO_INDEX)) { best = candidate; }
  }
#endfor
  return best;
}

fn insert_delegates(row: Row, lane: u32, end: u32, list: ptr<function, List>) {
  for (var first = lane; first < end; first += AHEAD * UNROLL * team_size()) {
#for g in AHEAD
    var loads$g: Loads;
#for u in UNROLL
    loads$g[$u] = load(row, min(first + ($gu * UNROLL + $uu) * team_size(), row.loads - 1u));
#endfor
#endfor
#for g in AHEAD
    {
      let best = best_of_group(row, first + $gu * UNROLL * team_size(), end, loads$g);
      if (key_less(best.key, (*list)[K - 1u].key)) {
        insert(list, best, true);
      } else if (key_equal(best.key, LAST_KEY) & (best.index != NO_INDEX)) {
        // Only the index tells a pair with the last key from nothing.
        insert(list, best, false);
      }
    }
#endfor
  }
}

#if UNROLL > 1

// The items of a delegate's group before a bound, as bits, without it. `q` is its first load.
fn others_before(row: Row, q: u32, end: u32, loads: Loads, position: u32, bound: Pair) -> u32 {
  var pending = 0u;
#for u in UNROLL
  let comes$u = before(item(row, q + $uu * team_size(), loads[$u], 0u), bound);
  pending |= select(0u, $[1 << u]u, comes$u & (q + $uu * team_size() < end));
#endfor
  return pending & ~(1u << ((position >> firstTrailingBit(team_size())) % UNROLL));
}

fn insert_others(row: Row, lane: u32, end: u32, list: ptr<function, List>) {
  var delegates: array<u32, K>;
#for i in K
  delegates[$i] = (*list)[$i].index;
#endfor
  // A loop over the first of them, and the others move up: it is a lot of code to repeat.
  for (var i = 0u; i < K; i++) {
    let delegate = delegates[0];
#for j in K
#if K > $[j + 1]
    delegates[$j] = delegates[$[j + 1]];
#endif
#endfor
    if (delegate == NO_INDEX) { break; }
    let position = position_in(row.span, delegate);
    let shift = firstTrailingBit(UNROLL * team_size());
    let q = ((position >> shift) << shift) + lane;
    var loads: Loads;
#for u in UNROLL
    loads[$u] = load(row, min(q + $uu * team_size(), row.loads - 1u));
#endfor
    var pending = others_before(row, q, end, loads, position, (*list)[K - 1u]);
    while (pending != 0u) {
      let place = countTrailingZeros(pending);
      pending &= pending - 1u;
      let candidate = load(row, q + place * team_size());
      if (before(candidate, (*list)[K - 1u])) { insert(list, candidate, false); }
    }
  }
}

#else

fn insert_others(row: Row, lane: u32, end: u32, list: ptr<function, List>) {}

#endif
#if SHARED

var<workgroup> lists: array<Stored, WORKGROUP * K>;  // [rank][invocation]

fn leave_list(local: u32, list: ptr<function, List>) {
#for i in K
  lists[$iu * WORKGROUP + local] = store_of((*list)[$i]);
#endfor
}

// Merges the lists of a team's invocations, in a tree, to its first one's. All call it together.
fn merge_lists(local: u32, lane: u32, list: ptr<function, List>) {
  for (var reach = params.team / 2u; reach > 0u; reach /= 2u) {
    workgroupBarrier();
    if (lane >= reach && lane < 2u * reach) { leave_list(local, list); }
    workgroupBarrier();
    if (lane < reach) {
      for (var i = 0u; i < K; i++) {
        let other = pair_of(lists[i * WORKGROUP + local + reach]);
        if (before(other, (*list)[K - 1u])) { insert(list, other, false); }
      }
    }
  }
  workgroupBarrier();
  if (lane == 0u) { leave_list(local, list); }
  workgroupBarrier();
}

fn put_list(local: u32, lane: u32, sequence: u32, list: ptr<function, List>) {
  merge_lists(local, lane, list);
  if (sequence < params.sequences) {
    let to = target_of(sequence);
    for (var i = lane; i < params.k; i += team_size()) { put_to(to, i, pair_of(lists[i * WORKGROUP + local - lane])); }
  }
}

#else

fn put_list(local: u32, lane: u32, sequence: u32, list: ptr<function, List>) {
  if (sequence < params.sequences) {
    let to = target_of(sequence);
#for i in K
    if ($iu < params.k) { put_to(to, $iu, (*list)[$i]); }
#endfor
  }
}

#endif

fn run(workgroup: u32, local: u32) {
  let shift = firstTrailingBit(team_size());
  let lane = local & (team_size() - 1u);
  let sequence = workgroup * (WORKGROUP >> shift) + (local >> shift);
  let row = row_of(min(sequence, params.sequences - 1u));
  let end = select(0u, row.loads, sequence < params.sequences);
  var list: List;
#for i in K
  list[$i] = last_pair();
#endfor
  insert_delegates(row, lane, end, &list);
  insert_others(row, lane, end, &list);
  put_list(local, lane, sequence, &list);
}
