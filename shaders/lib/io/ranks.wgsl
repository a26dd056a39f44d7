// The ranks that are wanted of each sequence, ascending, from `ranks`.
//   params.rank_step  1 where each sequence has its own, which lie as its indices do; else 0
#import io/params

@group(0) @binding(6) var<storage, read> ranks: array<u32>;

// The rank of a slot, counted from 1; 0 where it is 0xffffffff. Slots beyond the last rank repeat
// it.
fn rank_of(sequence: u32, slot: u32) -> u32 {
  let start = params.rank_step * sequence_offsets(sequence).z + params.first_rank;
  return ranks[start + min(slot, params.ranks - 1u)] + 1u;
}
