// How the invocations of a team exchange words: by shuffles with those whose numbers differ in few
// bits, where a workgroup has seen that shuffles reach them.
//   TEAM  invocations of a team, an aligned run of them; a power of two
#if SUBGROUPS
#import workgroup/same

var<workgroup> bits_out_of_reach: atomic<u32>;  // Of all invocations.

// The bits below TEAM across which a shuffle does not bring the number that it should.
fn out_of_reach(local: u32) -> u32 {
  let votes = countOneBits(subgroupBallot(true));
  let size = votes.x + votes.y + votes.z + votes.w;
  var bits = 0u;
#for bit in 7
#if TEAM > $[1 << bit]
  let number$bit = subgroupShuffleXor(local, $[1 << bit]u);
  bits |= select($[1 << bit]u, 0u, (size > $[1 << bit]u) & (number$bit == (local ^ $[1 << bit]u)));
#endif
#endfor
  return bits;
}

// Invocations that exchange by shuffles: an aligned run of so many, up to TEAM and 128. All call it
// together. It begins with a barrier.
fn lanes_of(local: u32) -> u32 {
  if (local == 0u) { atomicStore(&bits_out_of_reach, 0u); }
  workgroupBarrier();
  let bits = out_of_reach(local);
  if (bits != 0u) { atomicOr(&bits_out_of_reach, bits); }
  workgroupBarrier();
  let missed = same_for_all(local, atomicLoad(&bits_out_of_reach)) | min(TEAM, 128u);
  return missed & (0u - missed);
}

#else

fn lanes_of(local: u32) -> u32 {
  workgroupBarrier();
  return 1u;
}

#endif
