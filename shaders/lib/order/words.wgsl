// A pair as three words, most significant first: key high, key low, index, or key, index, nothing.
#import order/pair

fn words_of(pair: Pair) -> vec3<u32> {
#if KEY_WORDS == 1
  return vec3<u32>(pair.key, pair.index, 0u);
#else
  return vec3<u32>(pair.key, pair.index);
#endif
}

fn pair_from(words: vec3<u32>) -> Pair {
#if KEY_WORDS == 1
  return Pair(words.x, words.y);
#else
  return Pair(words.xy, words.z);
#endif
}

// The bits of a word of pairs that lie above a digit of `size` bits of `digit_word`.
fn bits_above(word: u32, digit_word: u32, shift: u32, size: u32) -> u32 {
  return select(select(0u, (0xffffffffu << shift) << size, word == digit_word), 0xffffffffu, word < digit_word);
}

#if KEY_WORDS == 1
fn words_before(a: vec3<u32>, b: vec3<u32>) -> bool { return (a.x < b.x) | ((a.x == b.x) & (a.y < b.y)); }
#else
fn words_before(a: vec3<u32>, b: vec3<u32>) -> bool {
  return (a.x < b.x) | ((a.x == b.x) & ((a.y < b.y) | ((a.y == b.y) & (a.z < b.z))));
}
#endif
