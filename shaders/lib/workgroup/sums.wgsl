// Sums over each team of a workgroup that all of it learn, one after the other.
//
// A team that exchanges by shuffles adds up by them. subgroupAdd may miss invocations that took
// another branch before (benchmarks/LOG.md#subgroup-reductions-2026-11-26-8c451f9). Else a sum has
// one barrier.
//   TEAM  invocations of a team, an aligned run of them; a power of two
#import workgroup/lanes
#import workgroup/teams

var<workgroup> sums: array<atomic<u32>, 3u * TEAMS>;

// What comes before a barrier ahead of the first sum.
fn begin_sums(local: u32) {
  if (local < 3u * TEAMS) { atomicStore(&sums[local], 0u); }
}

// All invocations call it together, for turns 0, 1, 2, 0, 1 and so on.
fn sum_of_team(local: u32, lanes: u32, mine: u32, turn: u32) -> u32 {
#if SUBGROUPS
  if (lanes >= TEAM) {
    var sum = mine;
#for bit in 7
#if TEAM > $[1 << bit]
    sum += subgroupShuffleXor(sum, $[1 << bit]u);
#endif
#endfor
    return sum;
  }
#endif
  let own = local / TEAM * 3u;
  atomicAdd(&sums[own + turn], mine);
  // All have read the sum of two turns ago, whose place is the next turn's.
  if (local % TEAM == 0u) { atomicStore(&sums[own + select(turn + 1u, 0u, turn == 2u)], 0u); }
  workgroupBarrier();
  return atomicLoad(&sums[own + turn]);
}
