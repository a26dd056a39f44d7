// The first k pairs of every short sequence, in order: elements (binding 1) -> sink (4, 5), reading once and a little.
//
// A team of TEAM invocations serves a sequence, LOADS loads each, whose least keys it keeps. The best of an invocation's loads stands
// for them, and the k-th of those TEAM is a threshold: the first k pairs do not come after it. What does not come after it is listed,
// about TEAM ln(TEAM / (TEAM - k)) pairs, and each of those put where it belongs by counting the ones before it. A list that would
// overflow gives a nearer threshold, the k-th of what it holds, and is made again. Needs k <= TEAM, and a load for each invocation.
//   LOADS     of an invocation (lib/held.wgsl), at most 32
//   CAPACITY  of a list, more than TEAM
#import least
#import sink

const TEAMS: u32 = WORKGROUP / TEAM;

var<workgroup> lists: array<Stored, TEAMS * CAPACITY>;
var<workgroup> counts: array<atomic<u32>, TEAMS>;
var<workgroup> thresholds: array<Stored, TEAMS>;
var<workgroup> overflows: atomic<u32>;
var<workgroup> shared_overflows: u32;

fn rank_in(list: u32, count: u32, pair: Pair) -> u32 {
  var rank = 0u;
  for (var i = 0u; i < count; i += 8u) {
#for u in 8
    let other$u = pair_of(lists[list + i + $uu]);
#endfor
#for u in 8
    rank += select(0u, 1u, i + $uu < count && before(other$u, pair));
#endfor
  }
  return rank;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let slot = local / TEAM;
  let lane = local % TEAM;
  let sequence = linear_workgroup(workgroup, grid) * TEAMS + slot;
  let row = row_of(min(sequence, params.sequences - 1u));
  let list = slot * CAPACITY;

#import held
  // The least key of each load.
#for l in LOADS
#if WHOLE > $l && $[l + 1] > SKEWED
  let least$l = least_in(data$l);
#else
  var least$l = LAST_KEY;
#for c in PER_LOAD
  least$l = key_min(least$l, item(row, $[l * TEAM]u + lane, data$l, $cu).key);
#endfor
#endif
#endfor
  var best = least0;
  var place = 0u;
#for l in LOADS
  {
    let wins = key_less(least$l, best);
    best = select(best, least$l, wins);
    place = select(place, $lu, wins);
  }
#endfor

  if (lane == 0u) { atomicStore(&counts[slot], TEAM); }
  if (local == 0u) { atomicStore(&overflows, 0u); }
  // Not the pair itself, but one that no other load's items come between.
  lists[list + lane] = store_of(Pair(best, last_index_in(row, place * TEAM + lane)));
  workgroupBarrier();
  loop {
    let listed = min(atomicLoad(&counts[slot]), CAPACITY);
    for (var i = lane; i < listed; i += TEAM) {
      let mine = pair_of(lists[list + i]);
      if (rank_in(list, listed, mine) == params.k - 1u) { thresholds[slot] = store_of(mine); }
    }
    workgroupBarrier();
    if (lane == 0u) { atomicStore(&counts[slot], 0u); }
    let threshold = pair_of(thresholds[slot]);
    workgroupBarrier();
    var hits = 0u;
#for l in LOADS
    hits |= select(0u, $[1 << l]u, !key_less(threshold.key, least$l));
#endfor
    // Of many, leave out those that only have the threshold's own key, beyond its place.
    if (countOneBits(hits) > 2u) {
      var ties = 0u;
#for l in LOADS
      ties |= select(0u, $[1 << l]u, key_equal(threshold.key, least$l));
#endfor
      let last = (threshold.index - params.first_index + row.skew) / PER_LOAD;
      hits &= ~ties | select(0u, (2u << min((last - lane) / TEAM, 31u)) - 1u, last >= lane);
    }
    while (hits != 0u) {
      let l = countTrailingZeros(hits);
      hits &= hits - 1u;
      let v = l * TEAM + lane;
      if (v < row.loads) {
        let data = load(row, v);
        var passing = 0u;
#for c in PER_LOAD
        let pair$c = item(row, v, data, $cu);
        let passes$c = !before(threshold, pair$c);
        passing += select(0u, 1u, passes$c);
#endfor
        var at = atomicAdd(&counts[slot], passing);
#for c in PER_LOAD
        if (passes$c) {
          if (at < CAPACITY) { lists[list + at] = store_of(pair$c); }
          at++;
        }
#endfor
        if (at > CAPACITY) { atomicStore(&overflows, 1u); }
      }
    }
    workgroupBarrier();
    if (local == 0u) { shared_overflows = atomicAnd(&overflows, 0u); }
    if (workgroupUniformLoad(&shared_overflows) == 0u) { break; }
  }

  if (sequence < params.sequences) {
    let listed = atomicLoad(&counts[slot]);
    let to = target_of(sequence);
    for (var i = lane; i < listed; i += TEAM) {
      let mine = pair_of(lists[list + i]);
      let rank = rank_in(list, listed, mine);
      if (rank < params.k) { put_to(to, rank, mine); }
    }
  }
}
