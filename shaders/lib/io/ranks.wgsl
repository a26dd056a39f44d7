// The ranks that are wanted of each sequence, ascending, from `ranks`.
//   params.rank_step  1 where each sequence has its own, which lie as its indices do; else 0
#import io/params

@group(0) @binding(6) var<storage, read> ranks: array<u32>;

// The rank of a slot, counted from 1. Slots beyond the dispatch's ranks have the row's last.
fn rank_of(sequence: u32, slot: u32) -> u32 {
  let place = select(params.last_rank, params.first_rank + slot, slot < params.ranks);
  return ranks[params.rank_step * sequence_offsets(sequence).z + place] + 1u;
}
