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
