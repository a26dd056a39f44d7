// The least of a team's first numbers and the largest of its second ones, by atomics.
//   TEAM  invocations of a team
#import workgroup/teams

var<workgroup> least_of_teams: array<atomic<u32>, TEAMS>;
var<workgroup> largest_of_teams: array<atomic<u32>, TEAMS>;

// Comes before a barrier ahead of `range_in_memory`.
fn begin_range(local: u32) {
  if (local < TEAMS) {
    atomicStore(&least_of_teams[local], 0xffffffffu);
    atomicStore(&largest_of_teams[local], 0u);
  }
}

// All invocations call it once, together, and all of a team learn its range.
fn range_in_memory(local: u32, mine: vec2<u32>) -> vec2<u32> {
  atomicMin(&least_of_teams[local / TEAM], mine.x);
  atomicMax(&largest_of_teams[local / TEAM], mine.y);
  workgroupBarrier();
  return vec2<u32>(atomicLoad(&least_of_teams[local / TEAM]), atomicLoad(&largest_of_teams[local / TEAM]));
}
