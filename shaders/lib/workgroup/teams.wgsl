// How many teams of TEAM invocations share a workgroup, and which is whose.
//   SIDE_BY_SIDE  1 where neighbours are of neighbouring teams; else a team is a run of invocations
const TEAMS: u32 = WORKGROUP / TEAM;

#if SIDE_BY_SIDE
fn team_number(local: u32) -> u32 { return local % TEAMS; }
fn lane_in_team(local: u32) -> u32 { return local / TEAMS; }
#else
fn team_number(local: u32) -> u32 { return local / TEAM; }
fn lane_in_team(local: u32) -> u32 { return local % TEAM; }
#endif
