// The pairs at the ranks of each sequence.
#import order/key

@group(0) @binding(10) var<storage, read_write> pair_keys: array<Key>;     // [sequence][rank]
@group(0) @binding(11) var<storage, read_write> pair_indices: array<u32>;
