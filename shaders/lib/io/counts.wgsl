// How many pairs each sequence's list has.
//   params.counted  0 where all have params.length
#import order/pair
#import io/params

@group(0) @binding(6) var<storage, read_write> counts: array<atomic<u32>>;  // [sequence]

// Pairs of a sequence's list.
fn length_of(sequence: u32) -> u32 {
  let count = atomicLoad(&counts[select(0u, sequence, params.counted > 0u)]);
  return select(params.length, min(count, params.length), params.counted > 0u);
}
