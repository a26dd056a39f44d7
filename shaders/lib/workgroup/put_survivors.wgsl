// The first k pairs of each team, up to its threshold, in order: the chosen subsets -> sink.
// Of sorted data, or of one value, whole loads are up to it, and the list tells a nearer one.
#import workgroup/team_survivors
#import workgroup/team_order

const MANY: u32 = 192u;  // More pairs take longer to count than to find a nearer threshold.

// Lists again what is up to a threshold among the lists, of an invocation a pair. Returns how many.
fn keep_near(team: Team, local: u32, count: u32) -> u32 {
  let home = team.slot * params.places;
  var mine = last_pair();
  if (team.lane < count) { mine = pair_of(list[home + team.lane]); }
  let threshold = find_threshold(team, local, mine);
  if (team.lane == 0u) { atomicStore(&counts[team.slot], 0u); }
  workgroupBarrier();
  if (passes(threshold, mine)) { list[home + atomicAdd(&counts[team.slot], 1u)] = store_of(mine); }
  workgroupBarrier();
  return atomicLoad(&counts[team.slot]);
}

// All invocations call it together, after they chose.
fn put_survivors(team: Team, local: u32, threshold: Pair) {
  var count = append_survivors(team, threshold);
  var largest = largest_of_teams(local, count);
  if (largest > params.places) {
    count = append_in_steps(team, local, threshold);
    largest = largest_of_teams(local, count);
  }
  if (MANY < largest && largest <= min(team_size(), params.places)) {
    count = keep_near(team, local, count);
    largest = largest_of_teams(local, count);
  }
  put_first(team, local, count, largest);
}
