// The least of a team's first numbers and the largest of its second ones, which all of it learn.
//   TEAM  invocations of a team, an aligned run of them; a power of two
#import workgroup/lanes
#import workgroup/range_in_memory

// All invocations call it once, together, after `begin_range` and a barrier.
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
  return range_in_memory(local, mine);
}
