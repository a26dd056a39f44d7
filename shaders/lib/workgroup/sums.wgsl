// Sums over a workgroup that all of it learn, one after the other.
//
// A subgroup adds up first, whatever its size and members. A sum has one barrier; it has none where
// a subgroup is the workgroup.
#import workgroup/lanes

var<workgroup> sums: array<atomic<u32>, 3>;

// What comes before a barrier ahead of the first sum.
fn begin_sums(local: u32) {
  if (local < 3u) { atomicStore(&sums[local], 0u); }
}

// All invocations call it together, for turns 0, 1, 2, 0, 1 and so on.
fn sum_of_all(local: u32, lanes: u32, mine: u32, turn: u32) -> u32 {
#if SUBGROUPS
  let sum = subgroupAdd(mine);
  if (lanes == WORKGROUP) { return sum; }
  if (subgroupExclusiveAdd(1u) == 0u) { atomicAdd(&sums[turn], sum); }
#else
  atomicAdd(&sums[turn], mine);
#endif
  // All have read the sum of two turns ago, whose place is the next turn's.
  if (local == 0u) { atomicStore(&sums[select(turn + 1u, 0u, turn == 2u)], 0u); }
  workgroupBarrier();
  return atomicLoad(&sums[turn]);
}
