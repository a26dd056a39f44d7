// What the steps of the radix sort share: least significant digit first, stable, tiles of TILE items, BINS digits.
//   DIGIT_WORD  word of the pair that holds the digit: 0 high key word ... KEY_WORDS = index
#import source

@group(0) @binding(6) var<storage, read_write> counts: array<u32>;  // [sequence][digit][tile]
@group(0) @binding(7) var<storage, read_write> totals: array<u32>;  // [sequence][digit]

fn count_at(sequence: u32, digit: u32, tile: u32) -> u32 {
  return (sequence * BINS + digit) * params.split + params.tile_base + tile;
}

fn digit_of(pair: Pair) -> u32 {
  let word = word_of_pair(pair, DIGIT_WORD);
  return (word >> params.digit_shift) & ((1u << params.digit_bits) - 1u);
}

// The loads that hold the items from `start` to before `end`.
fn first_load(row: Row, start: u32) -> u32 { return (start + row.skew) / PER_LOAD; }
fn end_load(row: Row, end: u32) -> u32 { return (end + row.skew + PER_LOAD - 1u) / PER_LOAD; }
