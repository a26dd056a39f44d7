// How the invocations of a workgroup exchange words: by shuffles where its subgroups are aligned
// runs of invocations in order, of one size.
#if SUBGROUPS

var<workgroup> lane_widths: atomic<u32>;  // Of all subgroups: the sizes of the regular, else odd.
var<workgroup> lane_width: u32;

// Invocations that exchange by shuffles: an aligned run of so many, or 1. All call it together.
fn lanes_of(local: u32) -> u32 {
  if (local == 0u) { atomicStore(&lane_widths, 0u); }
  workgroupBarrier();
  let size = subgroupAdd(1u);
  let rank = subgroupExclusiveAdd(1u);
  let in_order = subgroupBroadcastFirst(local) + rank == local && (local & (size - 1u)) == rank;
  // The ballot's bits are invocations by their numbers in the subgroup, which shuffles go by.
  let in_words = min(vec4<u32>(size) - min(vec4<u32>(size), vec4<u32>(0u, 32u, 64u, 96u)), vec4<u32>(32u));
  let dense = all(countOneBits(subgroupBallot(true)) == in_words) && all(firstLeadingBit(subgroupBallot(true)) + 1u == in_words);
  atomicOr(&lane_widths, select(3u, size, in_order && dense));
  workgroupBarrier();
  if (local == 0u) { lane_width = atomicLoad(&lane_widths); }
  let width = workgroupUniformLoad(&lane_width);
  return select(1u, width, countOneBits(width) == 1u);
}

#else

fn lanes_of(local: u32) -> u32 { return 1u; }

#endif
