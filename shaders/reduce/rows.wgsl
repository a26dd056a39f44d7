// The best pair of every sequence, by a team of TEAM invocations, a power of two: source -> sink.
//   LOADS      loads of an invocation, all under way at once (lib/thread/tile.wgsl), or 0
//   SUBGROUPS  1 where a team is a workgroup and there are subgroup operations
#import io/sink
#if LOADS > 0
#import thread/tile
#else
#import thread/scan_loads
#endif
#if TEAM > 1 && SUBGROUPS
#import subgroup/tree
#endif
#if TEAM > 1 && !SUBGROUPS
#import workgroup/tree

fn team_size() -> u32 { return TEAM; }
#endif
#if TEAM == 1
fn place_in_team(local: u32) -> u32 { return local; }
fn best_of_team(local: u32, place: u32, mine: Pair) -> Pair { return mine; }
#endif

#if LOADS > 0
fn best_of_lane(row: Row, lane: u32, live: bool) -> Pair { return best_of_tile(row, lane, TEAM); }
#else
fn best_of_lane(row: Row, lane: u32, live: bool) -> Pair {
  return scan_loads(row, lane, select(0u, row.loads, live), TEAM);
}
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let lane = local % TEAM;
  let sequence = linear_workgroup(workgroup, grid) * (WORKGROUP / TEAM) + local / TEAM;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  let place = place_in_team(local);
  let best = best_of_team(local, place, best_of_lane(row, lane, live));
  if (live && lane == 0u) { put(sequence, 0u, settled(row, best)); }
}
