// The digit of a pair in one pass of a radix sort. Elements come in order of index: none there.
//   PARTED  1 where it tells the pair's place among params.chosen pairs of its sequence, in order:
//           one for each that precedes it, and one for each that precedes or equals it
#import order/pair
#import io/digit

#if PARTED

@group(0) @binding(2) var<storage, read_write> part_keys: array<Key>;      // [sequence][pair]
@group(0) @binding(3) var<storage, read_write> part_indices: array<u32>;

var<private> parted_sequence: u32;  // Kernels set it first.

fn digit_of(pair: Pair) -> u32 {
  var digit = 0u;
  for (var p = 0u; p < params.chosen; p++) {
    let at = parted_sequence * params.chosen + p;
    let other = Pair(part_keys[at], part_indices[at]);
    digit += select(0u, 1u, before(other, pair)) + select(1u, 0u, before(pair, other));
  }
  return digit;
}

#else

fn digit_of(pair: Pair) -> u32 {
#if SOURCE_PAIRS
  return digit_in(word_of_pair(pair, params.digit_word));
#else
#if KEY_WORDS == 1
  return digit_in(pair.key);
#else
  return digit_in(select(pair.key.x, pair.key.y, params.digit_word == 1u));
#endif
#endif
}

#endif
