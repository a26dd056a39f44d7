// Sums over a workgroup that all of it learn, one after the other.
//
// A subgroup adds up first, whatever its size and members. A sum has one barrier; it has none where
// a subgroup is the workgroup.

var<workgroup> sums: array<atomic<u32>, 3>;
#if SUBGROUPS
var<workgroup> shared_lanes: u32;
#endif

// What comes before the first sum. True where no barrier is needed. All call it together.
fn begin_sums(local: u32) -> bool {
  if (local < 3u) { atomicStore(&sums[local], 0u); }
#if SUBGROUPS
  let lanes = subgroupAdd(1u);
  if (local == 0u) { shared_lanes = lanes; }
  return workgroupUniformLoad(&shared_lanes) == WORKGROUP;
#else
  workgroupBarrier();
  return false;
#endif
}

// All invocations call it together, for turns 0, 1, 2, 0, 1 and so on. `alone`: of begin_sums.
fn sum_of_all(local: u32, mine: u32, turn: u32, alone: bool) -> u32 {
#if SUBGROUPS
  let sum = subgroupAdd(mine);
  if (alone) { return sum; }
  if (subgroupExclusiveAdd(1u) == 0u) { atomicAdd(&sums[turn], sum); }
#else
  atomicAdd(&sums[turn], mine);
#endif
  // All have read the sum of two turns ago, whose place is the next turn's.
  if (local == 0u) { atomicStore(&sums[select(turn + 1u, 0u, turn == 2u)], 0u); }
  workgroupBarrier();
  return atomicLoad(&sums[turn]);
}
