// Digits of pairs as words.
#import order/words
#import io/used_bits

// The first digit, of up to so many bits, of those that differ in any bit that is used.
fn first_digit(differing: vec3<u32>, most: u32) -> Digit {
  var word = 0u;
  var range = bits_of_word(word);
  while (word < KEY_WORDS && (word_of(differing, word) >> range.x) == 0u) {
    word++;
    range = bits_of_word(word);
  }
  let high = max(range.x, min(range.y, 32u - countLeadingZeros(word_of(differing, word))));
  let bits = min(most, high - range.x);
  return Digit(word, high - bits, bits);
}
