// Items of sequences parted at ranks whose pairs are known. Those between two of the pairs are of
// one kind, and keep their order: each has its place by how many of its kind come before it.
//   MOST_RANKS  ranks, at most
#import io/rank_pairs
#import io/ranks
#import order/pair

fn wanted_pair(sequence: u32, number: u32) -> Pair {
  let at = sequence * params.ranks + number;
  return Pair(pair_keys[at], pair_indices[at]);
}

// The rank of an item of a kind, of which so many come before it. The first of a kind in order is
// the pair at a rank, but for the first kind.
fn rank_among(sequence: u32, kind: u32, pair: Pair, before: u32) -> u32 {
  if (kind == 0u) { return before; }
  let rank = ranks[kind - 1u];  // of all sequences
  let first = wanted_pair(sequence, kind - 1u).index;
  return select(rank + 1u + before - select(0u, 1u, first < pair.index), rank, first == pair.index);
}
