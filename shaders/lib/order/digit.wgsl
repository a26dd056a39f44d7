// The digit of a pair in one pass of a radix sort. Elements come in order of index: none there.
//   PARTED  1 where it tells the pair's place among params.parted pairs of its sequence, in order:
//           one for each that precedes it, and one for each that precedes or equals it
#import order/pair
#import io/digit

#if PARTED

@group(0) @binding(2) var<storage, read_write> part_keys: array<Key>;      // [sequence][pair]
@group(0) @binding(3) var<storage, read_write> part_indices: array<u32>;

fn part_pair(sequence: u32, number: u32) -> Pair {
  let at = sequence * params.parted + min(number, params.parted - 1u);
  return Pair(part_keys[at], part_indices[at]);
}

// A search through up to 127 pairs. It is no loop: lavapipe ends an invocation's after 65,535
// iterations in all. Short circuits would take SwiftShader over 8 GB (docs/driver-bugs.md).
fn digit_of(sequence: u32, pair: Pair) -> u32 {
  var earlier = 0u;
#for s in 7
  {
    let next = earlier + (64u >> $su);
    earlier = select(earlier, next, (next <= params.parted) & before(part_pair(sequence, next - 1u), pair));
  }
#endfor
  let equal = (earlier < params.parted) & !before(pair, part_pair(sequence, earlier));
  return 2u * earlier + select(0u, 1u, equal);
}

#else

fn digit_of(sequence: u32, pair: Pair) -> u32 {
#if SOURCE_PAIRS
  return digit_in(word_of_pair(pair, params.digit_word));
#else
  return digit_in(key_word(pair.key, params.digit_word));
#endif
}

#endif
