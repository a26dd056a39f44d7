// A NaN at the last rank to all ranks of its sequence: pairs -> pairs.
#import io/rank_pairs
#import io/params

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (at >= params.sequences * params.ranks) { return; }
  let last = (at / params.ranks + 1u) * params.ranks - 1u;
  if (is_nan(pair_keys[last])) { put_pair(at, Pair(pair_keys[last], pair_indices[last])); }
}
