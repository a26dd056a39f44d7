// The least of a team's first numbers and the largest of its second ones, which all of it learn.
//   TEAM  invocations of a team, an aligned run of them; a power of two
#import workgroup/lanes
#import workgroup/teams

var<workgroup> least_of_teams: array<atomic<u32>, TEAMS>;
var<workgroup> largest_of_teams: array<atomic<u32>, TEAMS>;

// Comes before a barrier ahead of `range_of_team`.
fn begin_range(local: u32) {
  if (local < TEAMS) {
    atomicStore(&least_of_teams[local], 0xffffffffu);
    atomicStore(&largest_of_teams[local], 0u);
  }
}

// All invocations call it once, together.
fn range_of_team(local: u32, lanes: u32, mine: vec2<u32>) -> vec2<u32> {
#if SUBGROUPS
  if (lanes >= TEAM) {
    var range = mine;
#for bit in 7
#if TEAM > $[1 << bit]
    range.x = min(range.x, subgroupShuffleXor(range.x, $[1 << bit]u));
    range.y = max(range.y, subgroupShuffleXor(range.y, $[1 << bit]u));
#endif
#endfor
    return range;
  }
#endif
  atomicMin(&least_of_teams[local / TEAM], mine.x);
  atomicMax(&largest_of_teams[local / TEAM], mine.y);
  workgroupBarrier();
  return vec2<u32>(atomicLoad(&least_of_teams[local / TEAM]), atomicLoad(&largest_of_teams[local / TEAM]));
}
