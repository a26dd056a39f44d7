// The first k pairs of every part of every sequence, in order: source -> sink. One read and a little.
//
// A team of params.team invocations serves a part. The best pair of each strided subset of its items is the subset's delegate; some k-th of the
// delegates is a threshold, which the first k pairs do not come after, nor the delegates of the subsets that they lie in. So: find the
// delegates (one read) and the threshold, read the subsets again whose delegates do not come after it, keep what does not either, and
// sort the few that are left. Exact for every input, since no two pairs are equal; k is at most params.team_bests.
//   UNROLL  loads under way at once where the delegates are found; AGAIN where subsets are read again
#import thread/scan_loads
#import workgroup/team_threshold
#import workgroup/team_survivors
#import workgroup/team_order

const OWN: u32 = 1u;  // Subsets of an invocation.

fn team_of(workgroup: u32, local: u32) -> Team {
  let slot = slot_of(local);
  let number = workgroup * teams_of_workgroup() + slot;
  let sequence = number / params.parts;
  let part = number % params.parts;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  // Contiguous parts, so that neighbouring invocations read neighbouring memory and parts share nothing.
  let chunk = (row.loads + params.parts - 1u) / params.parts;
  let begin = min(part * chunk, row.loads);
  let end = select(begin, min(begin + chunk, row.loads), live);
  let members = (end - begin + team_size() - 1u) / team_size();
  return Team(slot, lane_of(local), live, sequence, part * params.k, row, begin, end, members, team_size());
}

// The best pair of an invocation's subset.
fn find_delegate(team: Team) -> Pair {
  return delegate_of(team.row, scan_loads(team.row, team.begin + team.lane, team.end, team.stride));
}

fn listed_before(slot: u32) -> u32 { return 0u; }

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let team = team_of(linear_workgroup(workgroup, grid), local);
  let found = find_delegate(team);
  choose_none(team, local);
  let threshold = find_threshold(team, local, found);
  if (found.index != NO_INDEX && !before(threshold, found)) { choose(team, team.begin + team.lane); }
  var count = append_survivors(team, threshold);
  var largest = largest_of_teams(local, count);
  if (largest > params.places) {
    count = append_in_steps(team, local, threshold);
    largest = largest_of_teams(local, count);
  }
  put_first(team, local, count, largest);
}
