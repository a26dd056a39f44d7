// Zeros to a range of scratch: -> words.
#import io/params

@group(0) @binding(6) var<storage, read_write> words: array<u32>;

fn run(workgroup: u32, local: u32) {
  let at = workgroup * WORKGROUP + local;
  if (at < params.length) { words[at] = 0u; }
}
