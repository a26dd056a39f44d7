// Counts by a digit of the pairs that have the same words above it, into a workgroup's bins.
#import workgroup/bins

// A digit: its place, and the words of pairs that have it so far.
struct Digit { word: u32, shift: u32, size: u32, prefix: vec3<u32>, above: vec3<u32> }

fn digit_at(word: u32, shift: u32, size: u32, prefix: vec3<u32>) -> Digit {
  var above: vec3<u32>;
#for w in 3
  above[$w] = bits_above($wu, word, shift, size);
#endfor
  return Digit(word, shift, size, prefix, above);
}

fn count_digit(pair: Pair, digit: Digit) {
  let words = words_of(pair);
  let differing = (words ^ digit.prefix) & digit.above;
  if ((differing.x | differing.y | differing.z) == 0u && pair.index != NO_INDEX) {
    atomicAdd(&kth_bins[(word_of(words, digit.word) >> digit.shift) & ones(digit.size)], 1u);
  }
}
