// The first k pairs of each team, up to its threshold, in order: the chosen subsets -> sink.
// Of sorted data, or of one value, whole loads are up to it, and the list tells a nearer one.
#import workgroup/team_survivors
#import workgroup/team_threshold
#import workgroup/bitonic
#import io/sink

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

// An invocation a pair counts those before it; invocations to spare share that. `places` are zeros.
fn put_by_counting(team: Team, count: u32, largest: u32) {
  var width = 32u;
  while (width < largest) { width *= 2u; }
  width = min(width, team_size());
  let shift = firstTrailingBit(width);
  let at = team.lane & (width - 1u);
  let home = team.slot * params.places;
  let mine = pair_of(list[home + min(at, params.places - 1u)]);
  let step = team_size() >> shift;
  var place = 0u;
  for (var j = team.lane >> shift; j < count; j += 4u * step) {
#for u in 4
    let j$u = j + $uu * step;
    let other$u = list[home + min(j$u, params.places - 1u)];
#endfor
#for u in 4
    place += select(0u, 1u, (j$u < count) & before(pair_of(other$u), mine));
#endfor
  }
  if (step > 1u) {
    let shared_place = local_of(team.slot, at);
    atomicAdd(&places[shared_place], place);
    workgroupBarrier();
    place = atomicLoad(&places[shared_place]);
  }
  if (team.lane < count && place < params.k && team.live) { put(team.sequence, team.rank + place, mine); }
}

fn put_by_sorting(team: Team, local: u32, count: u32, largest: u32) {
  var size = 1u;
  while (size < largest) { size *= 2u; }
  let home = team.slot * params.places;
  for (var t = count + team.lane; t < size; t += team_size()) { list[home + t] = store_of(last_pair()); }
  sort_lists(local, size);
  for (var place = team.lane; place < min(count, params.k); place += team_size()) {
    if (team.live) { put(team.sequence, team.rank + place, pair_of(list[home + place])); }
  }
}

// By counting if few, else by a network. All invocations call it together; `largest` is the largest
// count of any team.
fn put_first(team: Team, local: u32, count: u32, largest: u32) {
  if (largest <= min(team_size(), params.places)) {
    put_by_counting(team, count, largest);
  } else {
    put_by_sorting(team, local, count, largest);
  }
#if SINK_PAIRS
  // A part of fewer than k pairs fills up with nothing.
  for (var place = count + team.lane; place < params.k; place += team_size()) {
    if (team.live) { put(team.sequence, team.rank + place, last_pair()); }
  }
#endif
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
