// Cuts lists of candidates that are too long; a workgroup serves a sequence.
// input, delegates, counts, lists and thresholds -> the lists, their lengths
#import workgroup/compact

@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;  // [sequence]

fn run(workgroup: u32, local: u32) {
  let live = workgroup < params.sequences;
  let sequence = min(workgroup, params.sequences - 1u);
  var count = asked_for(local, sequence, live);
  if (count > params.longest) { count = trimmed(local, sequence, sequence * params.places, count); }
  if (local == 0u && live) { lengths[sequence] = count; }
}
