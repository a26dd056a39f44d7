// The best pair of each team of neighbouring invocations, by a tree in workgroup memory. A kernel
// has `team_size()`, a power of two that all invocations agree on.
#import order/pair

var<workgroup> team_pairs: array<Stored, WORKGROUP>;

// lib/subgroup/tree.wgsl has its own answer, which precedes the work that `best_of_team` ends.
fn place_in_team(local: u32) -> u32 { return local; }

// All invocations call it together; a team's first gets the answer. A barrier parts two calls.
fn best_of_team(local: u32, place: u32, mine: Pair) -> Pair {
  var best = mine;
  let lane = local & (team_size() - 1u);
  team_pairs[place] = store_of(best);
  for (var reach = team_size() / 2u; reach > 0u; reach /= 2u) {
    workgroupBarrier();
    if (lane < reach) {
      let other = pair_of(team_pairs[place + reach]);
      if (before(other, best)) {
        best = other;
        team_pairs[place] = store_of(best);
      }
    }
  }
  return best;
}
