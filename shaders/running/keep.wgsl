// Rows of a running top-k to their places: next -> state.
#import io/running

@group(0) @binding(7) var<storage, read_write> next: array<u32>;  // [sequence][row], as state

fn run(workgroup: u32, local: u32) {
  let id = workgroup * WORKGROUP + local;
  let sequence = id / row_words();
  if (sequence >= params.sequences) { return; }
  state[sequence_offsets(sequence).z * row_words() + id % row_words()] = next[id];
}
