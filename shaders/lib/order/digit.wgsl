// The digit of a pair in one pass of a radix sort. Elements come in order of index: none there.
//   PARTED      1 where it tells the pair's place among params.parted pairs of its sequence, in
//               order: one for each that precedes it, and one for each that precedes or equals it
//   PART_STEPS  of the search among those, which are fewer than 2^PART_STEPS
#import order/pair
#import io/digit

#if PARTED

@group(0) @binding(2) var<storage, read_write> part_keys: array<Key>;      // [sequence][pair]
@group(0) @binding(3) var<storage, read_write> part_indices: array<u32>;

fn part_at(sequence: u32, number: u32) -> u32 { return sequence * params.parted + min(number, params.parted - 1u); }

// No loop: lavapipe ends an invocation's after 65,535 iterations in all. Short circuits would take
// SwiftShader over 8 GB (docs/driver-bugs.md).
fn digit_of(sequence: u32, pair: Pair) -> u32 {
  var earlier = 0u;
#for s in PART_STEPS
  {
    let next = earlier + $[1 << (PART_STEPS - 1 - s)]u;
    let at = part_at(sequence, next - 1u);
    earlier = select(earlier, next, (next <= params.parted) & before(Pair(part_keys[at], part_indices[at]), pair));
  }
#endfor
  // No other pair of the sequence has its index.
  let equal = (earlier < params.parted) & (part_indices[part_at(sequence, earlier)] == pair.index);
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
