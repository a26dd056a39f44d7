// A team of params.team invocations, a power of two from 32 on, and what it serves: a sequence or a
// part of one, whose items fall into strided subsets of loads.
//   WHOLE_TEAM    1 where a team is a workgroup: the compiler then knows what is uniform
//   SIDE_BY_SIDE  1 where neighbours serve neighbouring teams, whose sequences lie side by side
#import io/source
#import workgroup/same

const MOST_TEAMS: u32 = WORKGROUP / 32u;

#if WHOLE_TEAM
fn team_size() -> u32 { return WORKGROUP; }
#else
fn team_size() -> u32 { return params.team; }
#endif

// Powers of two: shifts and masks in place of divisions.
fn teams_of_workgroup() -> u32 { return WORKGROUP >> firstTrailingBit(team_size()); }

#if SIDE_BY_SIDE
fn slot_of(local: u32) -> u32 { return local & (teams_of_workgroup() - 1u); }
fn lane_of(local: u32) -> u32 { return local >> firstTrailingBit(teams_of_workgroup()); }
fn local_of(slot: u32, lane: u32) -> u32 { return lane * teams_of_workgroup() + slot; }
#else
fn slot_of(local: u32) -> u32 { return local >> firstTrailingBit(team_size()); }
fn lane_of(local: u32) -> u32 { return local & (team_size() - 1u); }
fn local_of(slot: u32, lane: u32) -> u32 { return slot * team_size() + lane; }
#endif

struct Team {
  slot: u32,      // Number of the team in its workgroup.
  lane: u32,      // Number of the invocation in its team.
  live: bool,     // There is such a sequence.
  sequence: u32,
  rank: u32,      // Rank of its first pair in the sink.
  row: Row,
  begin: u32,     // First load of the part.
  end: u32,       // Load behind its last one.
  members: u32,   // Loads of a subset, at most.
  stride: u32,    // Loads between two of them.
}

var<workgroup> most: atomic<u32>;

// The largest of all teams' numbers, known to all. `most` is zero before it and after it.
fn largest_of_all(local: u32, mine: u32) -> u32 {
  atomicMax(&most, mine);
  workgroupBarrier();
  if (local == 0u) {
    shared_word = atomicLoad(&most);
    atomicStore(&most, 0u);
  }
  return workgroupUniformLoad(&shared_word);
}

// The same of a number that all invocations of a team have.
fn largest_of_teams(local: u32, mine: u32) -> u32 {
  if (team_size() < WORKGROUP) { return largest_of_all(local, mine); }
  return same_for_all(local, mine);
}
