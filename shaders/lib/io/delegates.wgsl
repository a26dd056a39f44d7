// What an earlier dispatch left for those who look at subsets again: delegates, and for each
// sequence how many pairs came up to its threshold. The thresholds lie behind the lists.
#import order/pair
#import io/params

@group(0) @binding(2) var<storage, read_write> delegate_keys: array<Key>;     // [sequence][subset]
@group(0) @binding(3) var<storage, read_write> delegate_indices: array<u32>;
@group(0) @binding(6) var<storage, read_write> counts: array<atomic<u32>>;    // [sequence]

// A subset may hold a pair that does not come after the threshold only if its delegate does not.
fn delegate_at(sequence: u32, subset: u32) -> Pair {
  let at = sequence * params.subsets + subset;
  return Pair(delegate_keys[at], delegate_indices[at]);
}

fn threshold_place(sequence: u32) -> u32 { return params.sequences * params.places + sequence; }
