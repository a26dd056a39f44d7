// The pairs at the ranks of each sequence.
#import order/key
#import order/pair

@group(0) @binding(10) var<storage, read_write> pair_keys: array<Key>;     // [sequence][rank]
@group(0) @binding(11) var<storage, read_write> pair_indices: array<u32>;

fn put_pair(at: u32, pair: Pair) {
  pair_keys[at] = pair.key;
  pair_indices[at] = pair.index;
}
