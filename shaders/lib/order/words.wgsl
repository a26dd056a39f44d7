// A pair as three words, most significant first: key high, key low, index, or key, index, nothing.
#import order/pair

#if KEY_WORDS == 1
fn words_of(pair: Pair) -> vec3<u32> { return vec3<u32>(pair.key, pair.index, 0u); }
fn pair_from(words: vec3<u32>) -> Pair { return Pair(words.x, words.y); }
fn word_of(words: vec3<u32>, word: u32) -> u32 { return select(words.x, words.y, word == 1u); }
fn any_bits(words: vec3<u32>) -> bool { return (words.x | words.y) != 0u; }
fn words_before(a: vec3<u32>, b: vec3<u32>) -> bool { return (a.x < b.x) | ((a.x == b.x) & (a.y < b.y)); }
#else
fn words_of(pair: Pair) -> vec3<u32> { return vec3<u32>(pair.key, pair.index); }
fn pair_from(words: vec3<u32>) -> Pair { return Pair(words.xy, words.z); }
fn word_of(words: vec3<u32>, word: u32) -> u32 { return select(select(words.x, words.y, word == 1u), words.z, word == 2u); }
fn any_bits(words: vec3<u32>) -> bool { return (words.x | words.y | words.z) != 0u; }
fn words_before(a: vec3<u32>, b: vec3<u32>) -> bool {
  return (a.x < b.x) | ((a.x == b.x) & ((a.y < b.y) | ((a.y == b.y) & (a.z < b.z))));
}
#endif

// So many bits of a word, from `shift` on.
struct Digit { word: u32, shift: u32, bits: u32 }

fn in_word(word: u32, value: u32) -> vec3<u32> { return select(vec3<u32>(), vec3<u32>(value), vec3<u32>(0u, 1u, 2u) == vec3<u32>(word)); }

// The bits above a digit, and those below it.
fn mask_above(digit: Digit) -> vec3<u32> {
  let earlier = select(vec3<u32>(), vec3<u32>(0xffffffffu), vec3<u32>(0u, 1u, 2u) < vec3<u32>(digit.word));
  return earlier | in_word(digit.word, (0xffffffffu << digit.shift) << digit.bits);
}
fn mask_below(digit: Digit) -> vec3<u32> { return ~mask_above(Digit(digit.word, digit.shift, 0u)); }
