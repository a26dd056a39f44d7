// Sums over each team of a workgroup that all of it learn, one after the other; least numbers, too.
//
// A team that exchanges by shuffles adds up by them. subgroupAdd may miss invocations that took
// another branch before (benchmarks/LOG.md#subgroup-reductions-2026-11-26-8c451f9). Else a sum has
// one barrier.
//   TEAM  invocations of a team, a power of two
#import workgroup/lanes
#import workgroup/teams

var<workgroup> sums: array<atomic<u32>, 3u * TEAMS>;  // [team][turn]

var<private> sum_turn: u32;  // 0, 1, 2, 0, 1 and so on

// What comes before a barrier ahead of the first of them.
fn begin_sums(local: u32) {
  for (var s = local; s < 3u * TEAMS; s += WORKGROUP) { atomicStore(&sums[s], 0u); }
}

// A place of the team's. What was there two turns ago all have read: it is the next turn's.
fn sum_place(local: u32) -> u32 {
  let own = team_number(local) * 3u;
  let place = own + sum_turn;
  sum_turn = select(sum_turn + 1u, 0u, sum_turn == 2u);
  if (lane_in_team(local) == 0u) { atomicStore(&sums[own + sum_turn], 0u); }
  return place;
}

// All invocations call these together.
fn sum_of_team(local: u32, lanes: u32, mine: u32) -> u32 {
#if TEAM == 1
  return mine;
#else
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
  let place = sum_place(local);
  atomicAdd(&sums[place], mine);
  workgroupBarrier();
  return atomicLoad(&sums[place]);
#endif
}

fn least_of_team(local: u32, lanes: u32, mine: u32) -> u32 {
#if TEAM == 1
  return mine;
#else
#if SUBGROUPS
  if (lanes >= TEAM) {
    var least = mine;
#for bit in 7
#if TEAM > $[1 << bit]
    least = min(least, subgroupShuffleXor(least, $[1 << bit]u));
#endif
#endfor
    return least;
  }
#endif
  let place = sum_place(local);
  atomicMax(&sums[place], ~mine);
  workgroupBarrier();
  return ~atomicLoad(&sums[place]);
#endif
}
