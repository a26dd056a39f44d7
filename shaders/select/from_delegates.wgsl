// The first k pairs of every sequence, in order, by delegates made before: source -> sink.
//
// They are the best pair of each of params.subsets strided subsets. A second key is the least of a
// subset's others. A team of params.team invocations finds a threshold among the delegates,
// re-reads the subsets with a delegate up to it, and sorts what is up to it too. Where the second
// key excludes the others, only the delegate is listed. k is at most params.team_bests.
//   OWN    delegates of an invocation
//   AGAIN  loads under way at once where subsets are read again
#import workgroup/team_threshold
#import workgroup/put_survivors

@group(0) @binding(2) var<storage, read_write> delegate_keys: array<Key>;
@group(0) @binding(3) var<storage, read_write> delegate_indices: array<u32>;
@group(0) @binding(6) var<storage, read_write> second_keys: array<Key>;

var<workgroup> alone_counts: array<atomic<u32>, MOST_TEAMS>;  // Delegates listed alone.

struct Delegate {
  pair: Pair,
  next: Pair,  // None of the subset's other items comes before it.
}

alias Delegates = array<Delegate, OWN>;

fn team_of(workgroup: u32, local: u32) -> Team {
  let slot = slot_of(local);
  let sequence = workgroup * teams_of_workgroup() + slot;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  return Team(slot, lane_of(local), live, sequence, 0u, row, 0u, select(0u, row.loads, live), params.members, params.subsets);
}

fn read_delegate(team: Team, subset: u32) -> Delegate {
  if (!team.live || subset >= params.subsets) { return Delegate(last_pair(), last_pair()); }
  let at = params.source_base + team.sequence * params.source_step + subset * params.source_item_step;
  let pair = Pair(delegate_keys[at], delegate_indices[at]);
  let second = second_keys[at];
  return Delegate(pair, Pair(second, select(0u, pair.index + params.subsets, key_equal(second, pair.key))));
}

fn best_delegate(found: Delegates) -> Pair {
  var best = found[0].pair;
#for d in OWN
  if (before(found[$d].pair, best)) { best = found[$d].pair; }
#endfor
  return best;
}

fn listed_before(slot: u32) -> u32 { return min(atomicLoad(&alone_counts[slot]), params.places); }

// Lists a delegate, or chooses its subset where that is not all, or the list is full.
fn list_or_choose(team: Team, subset: u32, delegate: Delegate, threshold: Pair) {
  if (!passes(threshold, delegate.pair)) { return; }
  if (before(threshold, delegate.next)) {
    let place = atomicAdd(&alone_counts[team.slot], 1u);
    if (place < params.places) {
      list[team.slot * params.places + place] = store_of(delegate.pair);
      return;
    }
  }
  choose(team, subset);
}

fn run(workgroup: u32, local: u32) {
  let team = team_of(workgroup, local);
  var found: Delegates;
#for d in OWN
  found[$d] = read_delegate(team, team.lane + $du * team_size());
#endfor
  choose_none(team, local);
  if (team.lane == 0u) { atomicStore(&alone_counts[team.slot], 0u); }
  let threshold = find_threshold(team, local, best_delegate(found));
#for d in OWN
  list_or_choose(team, team.lane + $du * team_size(), found[$d], threshold);
#endfor
  put_survivors(team, local, threshold);
}
