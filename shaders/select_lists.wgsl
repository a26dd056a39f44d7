// The first K pairs of every short sequence, in order, for a small K: elements (binding 1) -> sink (4, 5).
//
// A team of TEAM invocations serves one sequence; each keeps a sorted list of K pairs in registers. First it inserts the best item of
// each load (its delegate), in order, so that a tie stays behind; the first K items lie in the loads of the K that are left, whose
// other items are then inserted where they come before the list's last. At the end the team's lists are merged in a tree.
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
  for (var q = lane; q < end; q += UNROLL * TEAM) {
#for u in UNROLL
    let v$u = q + $uu * TEAM;
    let data$u = load(row, min(v$u, row.loads - 1u));
#endfor
#for u in UNROLL
    if (v$u < end) {
      var best = last_pair();
#for c in PER_LOAD
      {
        let candidate = item(row, v$u, data$u, $cu);
        if (key_less(candidate.key, best.key) || best.index == NO_INDEX) { best = candidate; }
      }
#endfor
      if (key_less(best.key, list[K - 1u].key)) {
        insert_in_order(&list, best);
      } else if (key_equal(best.key, LAST_KEY)) {
        // Only the index tells a pair with the last key from nothing.
        insert(&list, best);
      }
    }
#endfor
  }

#if PER_LOAD > 1
  var delegates: array<u32, K>;
#for i in K
  delegates[$i] = list[$i].index;
#endfor
#for i in K
  if (delegates[$i] != NO_INDEX) {
    let v = (delegates[$i] - params.first_index + row.skew) / PER_LOAD;
    let data = load(row, v);
    var pending = 0u;
#for c in PER_LOAD
    {
      let candidate = item(row, v, data, $cu);
      if (candidate.index != delegates[$i] && before(candidate, list[K - 1u])) { pending |= 1u << $cu; }
    }
#endfor
    while (pending != 0u) {
      let c = countTrailingZeros(pending);
      pending &= pending - 1u;
      insert(&list, item(row, v, data, c));
    }
  }
#endfor
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
#for i in K
      {
        let other = pair_of(lists[$iu * WORKGROUP + local + reach]);
        if (before(other, list[K - 1u])) { insert(&list, other); }
      }
#endfor
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
    for (var i = lane; i < K; i += TEAM) { put(sequence, i, pair_of(lists[i * WORKGROUP + local - lane])); }
  }
#else
  if (live) {
#for i in K
    put(sequence, $iu, list[$i]);
#endfor
  }
#endif
}
