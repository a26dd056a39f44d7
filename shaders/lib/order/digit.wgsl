// The digit of a pair in one pass of a radix sort. Elements come in order of index: none there.
#import order/pair
#import io/digit

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
