// The survivors of each team: the chosen subsets' pairs up to the team's threshold -> `list`.
//
// A list too short for all is made again in steps, and cut to its first k whenever it is full.
// The kernel's `listed_before(slot)` is how many pairs it listed itself.
//   OWN       subsets of an invocation
//   AGAIN     loads under way at once
#import workgroup/team
#import workgroup/bitonic
#import thread/list_near

var<workgroup> chosen: array<u32, WORKGROUP * OWN>;  // The first loads of subsets.
var<workgroup> chosen_counts: array<atomic<u32>, MOST_TEAMS>;
var<workgroup> counts: array<atomic<u32>, MOST_TEAMS>;

var<private> reading: Team;
var<private> again: u32;  // loads that are read again
var<private> shift: u32;  // Bits of a member's number. Some numbers have no member.

// Before a barrier ahead of the first `choose`.
fn choose_none(team: Team, local: u32) {
  if (local == 0u) { atomicStore(&most, 0u); }
  if (team.lane == 0u) {
    atomicStore(&chosen_counts[team.slot], 0u);
    atomicStore(&counts[team.slot], 0u);
  }
}

fn choose(team: Team, first: u32) {
  chosen[team.slot * team_size() * OWN + atomicAdd(&chosen_counts[team.slot], 1u)] = first;
}

// The loads of a team's chosen subsets, one subset after the other.
fn nth_load(n: u32) -> u32 {
  let first = chosen[reading.slot * team_size() * OWN + (n >> shift)];
  let v = first + (n & ((1u << shift) - 1u)) * reading.stride;
  return select(NOWHERE, v, n < again && v < reading.end);
}

fn reserve(slot: u32, count: u32) -> u32 { return atomicAdd(&counts[slot], count); }

fn enlist(slot: u32, place: u32, pair: Pair) {
  let at = listed_before(slot) + place;
  if (at < params.places) { list[slot * params.places + at] = store_of(pair); }
}

// Re-reads the chosen subsets; returns the pairs that belong in the list. All call it together.
fn append_survivors(team: Team, threshold: Pair) -> u32 {
  workgroupBarrier();
  reading = team;
  shift = 32u - countLeadingZeros(max(team.members, 1u) - 1u);
  again = atomicLoad(&chosen_counts[team.slot]) << shift;
  let limit = limit_of(team.row, threshold);
  for (var n = team.lane; n < again; n += AGAIN * team_size()) {
    list_near(team.slot, team.row, n, team_size(), limit);
  }
  workgroupBarrier();
  return listed_before(team.slot) + atomicLoad(&counts[team.slot]);
}

// Lists a load's items up to the threshold, a bit each; returns those without a place.
fn append_pending(team: Team, v: u32, data: Load, items: u32, threshold: Pair) -> u32 {
  var pending = items;
  // One copy of this serves all items: so there is less to compile.
  for (var rest = items; rest != 0u; rest &= rest - 1u) {
    let candidate = item(team.row, v, data, firstTrailingBit(rest));
    var place = params.places;
    let passing = passes(threshold, candidate);
    if (passing) { place = atomicAdd(&counts[team.slot], 1u); }
    if (place < params.places) { list[team.slot * params.places + place] = store_of(candidate); }
    if (!passing || place < params.places) { pending ^= rest & (~rest + 1u); }
  }
  return pending;
}

// Cuts every list to its first k, in order. Returns the threshold: the k-th pair, if there is one.
fn cut_lists(team: Team, local: u32, threshold: Pair) -> Pair {
  let filled = min(atomicLoad(&counts[team.slot]), params.places);
  workgroupBarrier();
  for (var t = filled + team.lane; t < params.places; t += team_size()) { list[team.slot * params.places + t] = store_of(last_pair()); }
  sort_lists(local, params.places);
  let kept = min(filled, params.k);
  if (team.lane == 0u) { atomicStore(&counts[team.slot], kept); }
  workgroupBarrier();
  if (kept < params.k) { return threshold; }
  return pair_of(list[team.slot * params.places + params.k - 1u]);
}

// As `append_survivors`, after it, where a team's list is too short: a load an invocation a step.
fn append_in_steps(team: Team, local: u32, first_threshold: Pair) -> u32 {
  var threshold = first_threshold;
  if (team.lane == 0u) { atomicStore(&counts[team.slot], listed_before(team.slot)); }
  let steps = (largest_of_all(local, again) + team_size() - 1u) / team_size();
  for (var step = 0u; step < steps; step++) {
    let w = step * team_size() + team.lane;
    let at = nth_load(w);
    let v = min(at, team.row.loads - 1u);
    let data = load(team.row, v);
    var pending = select(0u, (1u << PER_LOAD) - 1u, at != NOWHERE);
    loop {
      pending = append_pending(team, v, data, pending, threshold);
      if (largest_of_all(local, select(0u, 1u, pending != 0u)) == 0u) { break; }
      threshold = cut_lists(team, local, threshold);
    }
  }
  return atomicLoad(&counts[team.slot]);
}
