// How the invocations of a workgroup exchange words: by shuffles where its subgroups are aligned
// runs of invocations in order, of one size.
#if SUBGROUPS

// The size of an invocation's subgroup where that is such a run, else 3. All bits of a workgroup's
// together are a power of two where all its subgroups are such runs, of one size.
fn own_lanes(local: u32) -> u32 {
  let ballot = subgroupBallot(true);
  let votes = countOneBits(ballot);
  let size = votes.x + votes.y + votes.z + votes.w;
  // The ballot's bits are invocations by their numbers in the subgroup, which shuffles go by.
  let in_words = min(vec4<u32>(size) - min(vec4<u32>(size), vec4<u32>(0u, 32u, 64u, 96u)), vec4<u32>(32u));
  let dense = all(votes == in_words) && all(firstLeadingBit(ballot) + 1u == in_words);
  let in_order = subgroupShuffle(local, local & (size - 1u)) == local;
  let together = subgroupBroadcastFirst(local / size) == local / size;
  return select(3u, size, dense && in_order && together && countOneBits(size) == 1u);
}

var<workgroup> lane_widths: atomic<u32>;  // Of all subgroups: the sizes of the regular, else odd.
var<workgroup> lane_width: u32;

// Invocations that exchange by shuffles: an aligned run of so many, or 1. All call it together.
fn lanes_of(local: u32) -> u32 {
  if (local == 0u) { atomicStore(&lane_widths, 0u); }
  workgroupBarrier();
  atomicOr(&lane_widths, own_lanes(local));
  workgroupBarrier();
  if (local == 0u) { lane_width = atomicLoad(&lane_widths); }
  let width = workgroupUniformLoad(&lane_width);
  return select(1u, width, countOneBits(width) == 1u);
}

#else

fn lanes_of(local: u32) -> u32 { return 1u; }

#endif
