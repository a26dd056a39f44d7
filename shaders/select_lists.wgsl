// The first K pairs of every short sequence, in order, for a small K: elements (binding 1) -> sink (4, 5).
//
// A team of TEAM invocations serves one sequence; each keeps a sorted list of K pairs in registers. An invocation's loads fall into
// groups of UNROLL, of which AHEAD are under way at a time. First it inserts the best item of each group (its delegate), in order, so
// that a tie stays behind; the first K items lie in the groups of the K that are left, whose other items are then inserted where they
// come before the list's last. At the end the team's lists are merged in a tree.
#import source
#import sink

const TEAMS: u32 = WORKGROUP / TEAM;

alias List = array<Pair, K>;

#if TEAM > 1
var<workgroup> lists: array<Stored, WORKGROUP * K>;
#endif

// Once a pair comes before one of the list it comes before all that follow: they move on by one.
fn insert_in_order(list: ptr<function, List>, pair: Pair) {
  var carried = pair;
#for i in K
  {
    let old = (*list)[$i];
    let wins = key_less(pair.key, old.key);
    (*list)[$i] = Pair(select(old.key, carried.key, wins), select(old.index, carried.index, wins));
    carried = Pair(select(carried.key, old.key, wins), select(carried.index, old.index, wins));
  }
#endfor
}

fn insert(list: ptr<function, List>, pair: Pair) {
  var carried = pair;
#for i in K
  {
    let old = (*list)[$i];
    let wins = before(pair, old);
    (*list)[$i] = Pair(select(old.key, carried.key, wins), select(old.index, carried.index, wins));
    carried = Pair(select(carried.key, old.key, wins), select(carried.index, old.index, wins));
  }
#endfor
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let lane = local % TEAM;
  let sequence = linear_workgroup(workgroup, grid) * TEAMS + local / TEAM;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  let end = select(0u, row.loads, live);

  var list: List;
#for i in K
  list[$i] = last_pair();
#endfor
  for (var first = lane; first < end; first += AHEAD * UNROLL * TEAM) {
#for g in AHEAD
#for u in UNROLL
    let v$[g]x$u = first + ($gu * UNROLL + $uu) * TEAM;
    let data$[g]x$u = load(row, min(v$[g]x$u, row.loads - 1u));
#endfor
#endfor
#for g in AHEAD
    {
      let q = v$[g]x0;
      var best = last_pair();
      var open = true;
#if SOURCE_ROWS && UNROLL > 1
      // Most groups of a full list hold nothing that comes before its last: the least key tells.
      let bound = list[K - 1u].key;
      if (q >= first_whole(row) && q + (UNROLL - 1u) * TEAM < end_whole(row) && list[K - 1u].index != NO_INDEX) {
        open = false;
        var least = LAST_KEY;
#for u in UNROLL
#for c in PER_LOAD
        let key$[u]x$c = key_in(data$[g]x$u, $cu);
        least = key_min(least, key$[u]x$c);
#endfor
#endfor
        if (key_less(least, bound)) {
          var place = 0u;
          var searching = true;
#for u in UNROLL
#for c in PER_LOAD
          searching = searching && !key_equal(key$[u]x$c, least);
          place += select(0u, select(1u, TEAM * PER_LOAD - PER_LOAD + 1u, $cu == PER_LOAD - 1u), searching);
#endfor
#endfor
          best = Pair(least, q * PER_LOAD - row.skew + params.first_index + place);
        }
      }
#endif
      if (open) {
#for u in UNROLL
        if (v$[g]x$u < end) {
#for c in PER_LOAD
          {
            let candidate = item(row, v$[g]x$u, data$[g]x$u, $cu);
            if (key_less(candidate.key, best.key) || best.index == NO_INDEX) { best = candidate; }
          }
#endfor
        }
#endfor
      }
      if (key_less(best.key, list[K - 1u].key)) {
        insert_in_order(&list, best);
      } else if (key_equal(best.key, LAST_KEY) && best.index != NO_INDEX) {
        // Only the index tells a pair with the last key from nothing.
        insert(&list, best);
      }
    }
#endfor
  }

#if GROUP > 1
  var delegates: array<u32, K>;
#for i in K
  delegates[$i] = list[$i].index;
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
    let position = delegate - params.first_index + row.skew;
    let q = position / PER_LOAD / (UNROLL * TEAM) * (UNROLL * TEAM) + lane;
    let bound = list[K - 1u];
    var pending = 0u;
#for u in UNROLL
    let v$u = q + $uu * TEAM;
    let data$u = load(row, min(v$u, row.loads - 1u));
#endfor
#for u in UNROLL
#for c in PER_LOAD
    {
      let comes = before(item(row, v$u, data$u, $cu), bound);
      pending |= select(0u, 1u << ($[u]u * PER_LOAD + $cu), comes && v$u < end);
    }
#endfor
#endfor
    // All but the delegate.
    pending &= ~(1u << (position / PER_LOAD / TEAM % UNROLL * PER_LOAD + position % PER_LOAD));
    while (pending != 0u) {
      let place = countTrailingZeros(pending);
      pending &= pending - 1u;
#if UNROLL == 1
      let candidate = item(row, q, data0, place);
#else
      let v = q + place / PER_LOAD * TEAM;
      let candidate = item(row, v, load(row, v), place % PER_LOAD);
#endif
      if (before(candidate, list[K - 1u])) { insert(&list, candidate); }
    }
  }
#endif

#if TEAM > 1
  for (var reach = TEAM / 2u; reach > 0u; reach /= 2u) {
    workgroupBarrier();
    if (lane >= reach && lane < 2u * reach) {
#for i in K
      lists[$iu * WORKGROUP + local] = store_of(list[$i]);
#endfor
    }
    workgroupBarrier();
    if (lane < reach) {
      for (var i = 0u; i < K; i++) {
        let other = pair_of(lists[i * WORKGROUP + local + reach]);
        if (before(other, list[K - 1u])) { insert(&list, other); }
      }
    }
  }
  workgroupBarrier();
  if (lane == 0u) {
#for i in K
    lists[$iu * WORKGROUP + local] = store_of(list[$i]);
#endfor
  }
  workgroupBarrier();
  if (live) {
    let to = target_of(sequence);
    for (var i = lane; i < K; i += TEAM) { put_to(to, i, pair_of(lists[i * WORKGROUP + local - lane])); }
  }
#else
  if (live) {
    let to = target_of(sequence);
#for i in K
    put_to(to, $iu, list[$i]);
#endfor
  }
#endif
}
