// Digits of pairs as words, and the bits above them.
#import order/words
#import io/used_bits

struct Digit { word: u32, shift: u32, bits: u32 }

fn word_at(words: vec3<u32>, word: u32) -> u32 { return select(select(words.x, words.y, word == 1u), words.z, word == 2u); }

// The bits above a digit.
fn mask_above(digit: Digit) -> vec3<u32> {
  let above = (0xffffffffu << digit.shift) << digit.bits;
  let words = vec3<u32>(0u, 1u, 2u);
  return select(select(vec3<u32>(), vec3<u32>(above), words == vec3<u32>(digit.word)), vec3<u32>(0xffffffffu),
                words < vec3<u32>(digit.word));
}

// The first digit, of up to so many bits, of those that differ in any bit that is used.
fn first_digit(differing: vec3<u32>, most: u32) -> Digit {
  var word = 0u;
  var range = bits_of_word(word);
  while (word < KEY_WORDS && (word_at(differing, word) >> range.x) == 0u) {
    word++;
    range = bits_of_word(word);
  }
  let high = max(range.x, min(range.y, 32u - countLeadingZeros(word_at(differing, word))));
  let bits = min(most, high - range.x);
  return Digit(word, high - bits, bits);
}
