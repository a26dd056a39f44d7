// Cuts lists of candidates that are too long; a workgroup serves a sequence.
// input, delegates, counts, lists and thresholds -> the lists, their lengths
#import workgroup/compact

@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;  // [sequence]

fn run(sequence: u32, local: u32) {
  if (sequence >= params.sequences) { return; }
  var count = asked_for(local, sequence);
  if (count > params.longest) { count = trimmed(local, sequence, sequence * params.places, count); }
  if (local == 0u) { lengths[sequence] = count; }
}
