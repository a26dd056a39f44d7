// The best pair of a workgroup's, by subgroup operations.
// Nothing depends on the size or the members of a subgroup, of which WGSL promises neither: no two
// pairs are equal, so they are stored in whatever order subgroups come.
#import order/pair

var<workgroup> team_pairs: array<Stored, WORKGROUP>;  // [subgroup]
var<workgroup> team_subgroups: atomic<u32>;

// The subgroup's best pair, word by word: the least of those that agree in the words before.
fn best_of_subgroup(mine: Pair) -> Pair {
#if KEY_WORDS == 1
  let key = subgroupMin(mine.key);
#else
  let high = subgroupMin(mine.key.x);
  let low = subgroupMin(select(0xffffffffu, mine.key.y, mine.key.x == high));
  let key = Key(high, low);
#endif
  return Pair(key, subgroupMin(select(NO_INDEX, mine.index, key_equal(mine.key, key))));
}

// Comes before `best_of_team`, and before the work that it ends: a place for the subgroup's pair.
fn place_in_team(local: u32) -> u32 {
  if (local == 0u) { atomicStore(&team_subgroups, 0u); }
  workgroupBarrier();
  var place = 0u;
  if (subgroupExclusiveAdd(1u) == 0u) { place = atomicAdd(&team_subgroups, 1u); }
  return subgroupBroadcastFirst(place);
}

// All invocations call it together; all get the answer. Between two calls lies a barrier.
fn best_of_team(local: u32, place: u32, mine: Pair) -> Pair {
  // After it all of a subgroup are together again, whatever loops they left before.
  workgroupBarrier();
  let first = best_of_subgroup(mine);
  let rank = subgroupExclusiveAdd(1u);
  if (rank == 0u) { team_pairs[place] = store_of(first); }
  let lanes = subgroupAdd(1u);
  workgroupBarrier();
  // Every subgroup reads all that were stored; one step does, but for many small subgroups.
  let stored = atomicLoad(&team_subgroups);
  var best = last_pair();
  for (var base = 0u; base < stored; base += lanes) {
    let other = pair_of(team_pairs[min(base + rank, stored - 1u)]);
    best = select_pair(best, other, before(other, best));
  }
  return best_of_subgroup(best);
}
