// The first k pairs of each team's loads, in order, by one subset an invocation: source -> sink.
#import thread/scan_loads
#import workgroup/team_threshold
#import workgroup/put_survivors

const OWN: u32 = 1u;  // Subsets of an invocation.

fn listed_before(slot: u32) -> u32 { return 0u; }

// All invocations call it together.
fn select_of_team(team: Team, local: u32) {
  let found = delegate_of(team.row, scan_loads(team.row, team.begin + team.lane, team.end, team.stride));
  choose_none(team, local);
  let threshold = find_threshold(team, local, found);
  if (passes(threshold, found)) { choose(team, team.begin + team.lane); }
  put_survivors(team, local, threshold);
}
