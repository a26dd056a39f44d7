// What the three steps of the radix sort share: least significant digit first, stable, tiles of TILE items, BINS digits.
#import source

@group(0) @binding(6) var<storage, read_write> counts: array<u32>;  // [sequence][digit][tile]
@group(0) @binding(7) var<storage, read_write> totals: array<u32>;  // [sequence][digit]

fn digit_of(pair: Pair) -> u32 {
#if KEY_WORDS == 1
  let word = select(pair.key, pair.index, params.digit_word == KEY_WORDS);
#else
  let word = select(select(pair.key.x, pair.key.y, params.digit_word == 1u), pair.index, params.digit_word == KEY_WORDS);
#endif
  return (word >> params.digit_shift) & ((1u << params.digit_bits) - 1u);
}
