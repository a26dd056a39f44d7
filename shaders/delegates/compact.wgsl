// Cuts lists of candidates that are too long; a workgroup serves a sequence.
// input, delegates, counts, lists and thresholds -> the lists, their lengths
#import workgroup/compact

@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;  // [sequence]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let live = id < params.sequences;
  let sequence = min(id, params.sequences - 1u);
  var count = asked_for(local, sequence, live);
  if (count > params.longest) { count = trimmed(local, sequence, sequence * params.places, count); }
  if (local == 0u && live) { lengths[sequence] = count; }
}
