// Zeros to a range of scratch: -> words.
#import io/params

@group(0) @binding(6) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (at < params.length) { words[at] = 0u; }
}
