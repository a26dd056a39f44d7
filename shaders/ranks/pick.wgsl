// The pairs at several ranks of sequences in order: source, ranks -> pairs.
#import io/source
#import io/ranks
#import io/rank_pairs

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let sequence = at / params.ranks;
  if (sequence >= params.sequences) { return; }
  put_pair(at, load(row_of(sequence), rank_of(sequence, at % params.ranks) - 1u));
}
