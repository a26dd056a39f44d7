// The best pair of every part of every sequence, by a tree in workgroup memory: source (bindings 1 to 3) -> sink (4, 5).
//
// A team of TEAM invocations serves one part; a sequence has params.split parts, and part p takes the loads p * TEAM + lane and
// every split * TEAM-th after. TEAM = 1 makes delegates: one strided subset an invocation.
#import source
#import sink

const TEAMS: u32 = WORKGROUP / TEAM;

var<workgroup> tree_keys: array<Key, WORKGROUP>;
var<workgroup> tree_indices: array<u32, WORKGROUP>;

fn better(candidate: Pair, best: Pair) -> Pair {
#if IN_ORDER
  // Items come in ascending order of index, so a tie keeps the earlier one.
  let wins = key_less(candidate.key, best.key);
#else
  let wins = before(candidate, best);
#endif
  return Pair(select(best.key, candidate.key, wins), select(best.index, candidate.index, wins));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let team = linear_workgroup(workgroup, grid) * TEAMS + local / TEAM;
  let lane = local % TEAM;
  let sequence = team / params.split;
  let part = team % params.split;
  let live = sequence < params.sequences;

  var best = last_pair();
  if (live) {
    let row = row_of(sequence);
    let stride = params.split * TEAM;
    var q = part * TEAM + lane;
    // Several loads in flight at once: the memory's latency is what counts.
    for (; q + (UNROLL - 1u) * stride < row.loads; q += UNROLL * stride) {
#for u in UNROLL
      let v$u = load_of(row, q + $uu * stride);
      let data$u = load(row, v$u);
#endfor
#for u in UNROLL
#for c in PER_LOAD
      best = better(item(row, v$u, data$u, $cu), best);
#endfor
#endfor
    }
    for (; q < row.loads; q += stride) {
      let v = load_of(row, q);
      let data = load(row, v);
#for c in PER_LOAD
      best = better(item(row, v, data, $cu), best);
#endfor
    }
#if IN_ORDER
    // No key came before the last one: the first item that there is wins.
    for (q = part * TEAM + lane; q < row.loads && best.index == NO_INDEX; q += stride) {
      let data = load(row, q);
#for c in PER_LOAD
      let item$c = item(row, q, data, $cu);
      if (before(item$c, best)) { best = item$c; }
#endfor
    }
#endif
  }

#if TEAM > 1
  tree_keys[local] = best.key;
  tree_indices[local] = best.index;
  for (var reach = TEAM / 2u; reach > 0u; reach /= 2u) {
    workgroupBarrier();
    if (lane < reach) {
      let other = Pair(tree_keys[local + reach], tree_indices[local + reach]);
      if (before(other, best)) {
        best = other;
        tree_keys[local] = best.key;
        tree_indices[local] = best.index;
      }
    }
  }
#endif
  if (live && lane == 0u) { put(sequence, part, best); }
}
