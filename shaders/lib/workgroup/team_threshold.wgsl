// The threshold of each team, a pair no earlier than its k-th: delegates -> `thresholds`.
//
// A team's delegates, or pairs of its list, one an invocation, fall into params.team_bests groups,
// a power of two from 32 to params.team. The k-th of the groups' bests is the threshold: the first
// k of those have subsets of their own. Counting those before each finds it.
#import workgroup/team

const COUNTED_TOGETHER: u32 = 8u;  // Pairs that an invocation compares at once: no wait for each.

var<workgroup> delegates: array<Stored, WORKGROUP>;
var<workgroup> thresholds: array<Stored, MOST_TEAMS>;
var<workgroup> places: array<atomic<u32>, WORKGROUP>;  // Zeros before a count.

// The best of each group, in the delegates of its first invocations.
fn find_bests(team: Team, local: u32, delegate: Pair) {
  var best = delegate;
  delegates[local] = store_of(best);
  for (var reach = team_size() / 2u; reach >= params.team_bests; reach /= 2u) {
    workgroupBarrier();
    if (team.lane < reach) {
      let other = pair_of(delegates[local_of(team.slot, team.lane + reach)]);
      if (before(other, best)) {
        best = other;
        delegates[local] = store_of(best);
      }
    }
  }
  workgroupBarrier();
}

// How many of the bests, from `first` on in steps of `step`, come before a pair.
fn count_bests(slot: u32, first: u32, step: u32, pair: Pair) -> u32 {
  var count = 0u;
  for (var j = first; j < params.team_bests; j += COUNTED_TOGETHER * step) {
#for u in 8
    let other$u = delegates[local_of(slot, j + $uu * step)];
#endfor
#for u in 8
    count += select(0u, 1u, before(pair_of(other$u), pair));
#endfor
  }
  return count;
}

// All invocations call it together, each with its own best. The answer is nothing for fewer than k.
fn find_threshold(team: Team, local: u32, delegate: Pair) -> Pair {
  atomicStore(&places[local], 0u);
  if (team.lane == 0u) { thresholds[team.slot] = store_of(last_pair()); }
  find_bests(team, local, delegate);
  // Invocations beyond the groups share the counting, while each has pairs enough.
  let shift = firstTrailingBit(params.team_bests);
  let slices = min(team_size() >> shift, params.team_bests / COUNTED_TOGETHER);
  let slice = team.lane >> shift;
  let home = local_of(team.slot, team.lane & (params.team_bests - 1u));
  let mine = pair_of(delegates[home]);
  var place = 0u;
  if (slice < slices) { place = count_bests(team.slot, slice, slices, mine); }
  if (slices > 1u) {
    if (slice < slices) { atomicAdd(&places[home], place); }
    workgroupBarrier();
    place = atomicLoad(&places[home]);
  }
  // Of several that are nothing, and so share a place, any will do.
  if (slice == 0u && place == params.k - 1u) { thresholds[team.slot] = store_of(mine); }
  workgroupBarrier();
  atomicStore(&places[local], 0u);
  return pair_of(thresholds[team.slot]);
}
