// What looks at the subsets of delegates again: the delegates that an earlier dispatch made (bindings 2 and 3), and the state of each
// sequence (6): the threshold that bounds its first k pairs, and how many pairs asked for a place in its list of candidates, which is
// every pair that does not come after the threshold.
//   CAPACITY  places of each sequence's list
#import state

@group(0) @binding(2) var<storage, read_write> delegate_keys: array<Key>;     // [sequence][subset]
@group(0) @binding(3) var<storage, read_write> delegate_indices: array<u32>;

// A subset may hold a pair that does not come after the threshold only if its delegate does not.
fn delegate_at(sequence: u32, subset: u32) -> Pair {
  let at = sequence * params.subsets + subset;
  return Pair(delegate_keys[at], delegate_indices[at]);
}
