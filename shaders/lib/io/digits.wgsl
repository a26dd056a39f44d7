// The digits that a radix sort counts, from `input` or from `digit_words`, one word of the pairs.
//   SOURCE_PAIRS  1 where items are pairs that an earlier dispatch left
//   COUNTED       as lib/io/source.wgsl has it
#if SOURCE_PAIRS

#import io/digit

@group(0) @binding(2) var<storage, read_write> digit_words: array<u32>;  // keys or indices
#if COUNTED
@group(0) @binding(8) var<storage, read_write> source_counts: array<u32>;  // [sequence]
#endif

struct Row { start: u32, count: u32 }

fn row_of(sequence: u32) -> Row {
  var count = params.length;
#if COUNTED
  let given = source_counts[sequence];
  count = select(params.k, given, params.k <= given && given <= params.length);
#endif
  return Row(params.source_base + sequence * params.source_step, count);
}

// What a sequence lacks sorts last.
fn digit_at(sequence: u32, row: Row, position: u32) -> u32 {
  let word = digit_words[(row.start + position * params.source_item_step) * params.digit_step + params.digit_word];
#if COUNTED
  return digit_in(select(word, 0xffffffffu, position >= row.count));
#else
  return digit_in(word);
#endif
}

#else

#import order/digit
#import io/pair_at

fn digit_at(sequence: u32, row: Row, position: u32) -> u32 { return digit_of(sequence, pair_within(row, position)); }

#endif
