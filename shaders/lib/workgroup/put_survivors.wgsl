// The first k pairs of each team, up to its threshold, in order: the chosen subsets -> sink.
#import workgroup/team_survivors
#import workgroup/team_order

// All invocations call it together, after they chose.
fn put_survivors(team: Team, local: u32, threshold: Pair) {
  var count = append_survivors(team, threshold);
  var largest = largest_of_teams(local, count);
  if (largest > params.places) {
    count = append_in_steps(team, local, threshold);
    largest = largest_of_teams(local, count);
  }
  put_first(team, local, count, largest);
}
