// Rows of a running top-k to their places: next -> state.
#import io/running

@group(0) @binding(7) var<storage, read_write> next: array<u32>;  // [sequence][row], as state

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let sequence = id / row_words();
  if (sequence >= params.sequences) { return; }
  state[sequence_offsets(sequence).z * row_words() + id % row_words()] = next[id];
}
