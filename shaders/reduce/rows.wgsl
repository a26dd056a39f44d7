// The best pair of every sequence, by a team of invocations: source -> sink.
//
// A team has params.team invocations, a power of two.
//   LOADS       loads of an invocation, all under way at once (lib/thread/tile.wgsl), or 0
//   WHOLE_TEAM  1 where a team is a workgroup
//   SUBGROUPS   1 where it is, and there are subgroup operations
#import io/sink
#if LOADS > 0
#import thread/tile
#else
#import thread/scan_loads
#endif
#if WHOLE_TEAM
fn team_size() -> u32 { return WORKGROUP; }
#else
fn team_size() -> u32 { return params.team; }
#endif
#if SUBGROUPS
#import subgroup/tree
#else
#import workgroup/tree
#endif

fn best_of_lane(row: Row, lane: u32, live: bool) -> Pair {
#if LOADS > 0
  return best_of_tile(row, lane, team_size());
#else
  return scan_loads(row, lane, select(0u, row.loads, live), team_size());
#endif
}

fn run(workgroup: u32, local: u32) {
  let lane = local & (team_size() - 1u);
  let teams = firstTrailingBit(team_size());  // shifts in place of divisions
  let sequence = workgroup * (WORKGROUP >> teams) + (local >> teams);
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  let place = place_in_team(local);
  let best = best_of_team(local, place, best_of_lane(row, lane, live));
  if (live && lane == 0u) { put(sequence, 0u, settled(row, best)); }
}
