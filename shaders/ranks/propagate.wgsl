// A NaN at the last rank to all ranks of its sequence: pairs -> pairs.
#import io/rank_pairs
#import io/params

fn run(workgroup: u32, local: u32) {
  let at = workgroup * WORKGROUP + local;
  if (at >= params.sequences * params.ranks) { return; }
  let last = (at / params.ranks + 1u) * params.ranks - 1u;
  if (is_nan(pair_keys[last])) { put_pair(at, Pair(pair_keys[last], pair_indices[last])); }
}
