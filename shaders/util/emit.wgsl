// Pairs in order to the output tensors, each window with the values it holds: source -> sink.
#import io/source
#import io/sink

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let sequence = at / params.length;
  let rank = at - sequence * params.length;
  if (sequence < params.sequences) {
    let row = row_of(sequence);
    put(sequence, rank, load(row, rank + params.first_rank));
  }
}
