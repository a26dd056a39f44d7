// The delegates of strided subsets that an earlier dispatch made, the threshold that bounds the first k pairs, and the list of
// candidates: every pair that does not come after it.
//   CAPACITY  places of each sequence's list
#import pair
#import params

@group(0) @binding(2) var<storage, read_write> delegate_keys: array<Key>;     // [sequence][subset]
@group(0) @binding(3) var<storage, read_write> delegate_indices: array<u32>;
@group(0) @binding(6) var<storage, read_write> threshold_keys: array<Key>;    // [sequence]
@group(0) @binding(7) var<storage, read_write> threshold_indices: array<u32>;
@group(0) @binding(8) var<storage, read_write> counts: array<atomic<u32>>;    // [sequence]: pairs that asked for a place in the list

fn threshold_of(sequence: u32) -> Pair { return Pair(threshold_keys[sequence], threshold_indices[sequence]); }

// Whether a subset may hold a pair that does not come after the threshold.
fn is_chosen(sequence: u32, subset: u32, threshold: Pair) -> bool {
  let at = sequence * params.subsets + subset;
  return !before(threshold, Pair(delegate_keys[at], delegate_indices[at]));
}
