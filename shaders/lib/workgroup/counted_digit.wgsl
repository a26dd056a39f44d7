// Counts the pairs from one to another by a digit, and narrows both to one of its bins.
#import workgroup/bins

// How a word's digit is told: what it exceeds the least by, less its last bits. While `counted` is
// false, pairs are listed and not counted.
struct Counted { counted: bool, word: u32, least: u32, shift: u32 }

var<private> digit: Counted;
var<private> least: vec3<u32>;  // words of the first pair

// Before pairs from `least` to a threshold are counted: by the first word that differs.
fn begin_counts(threshold: Pair) {
  let most = words_of(threshold);
  let word = select(select(2u, 1u, least.y != most.y), 0u, least.x != most.x);
  let bits = 32u - countLeadingZeros(word_of(most, word) - word_of(least, word));
  digit = Counted(true, word, word_of(least, word), max(bits, KTH_DIGIT) - KTH_DIGIT);
}

// Counts a pair from `least` on. Returns whether it is.
fn count_pair(pair: Pair) -> bool {
  let words = words_of(pair);
  if (words_before(words, least)) { return false; }
  atomicAdd(&kth_bins[(word_of(words, digit.word) - digit.least) >> digit.shift], 1u);
  return true;
}

// The last pair with the digit of a bin, and the first as `least`.
fn narrowed(threshold: Pair, bin: u32) -> Pair {
  var most = words_of(threshold);
  let first = digit.least + (bin << digit.shift);
  let behind = word_of(most, digit.word) - first;
  let reach = min(ones(digit.shift), behind);
  let ends = reach < behind;  // else the words that follow are the threshold's
#for w in 3
  if ($wu == digit.word) {
    least[$w] = first;
    most[$w] = first + reach;
  } else if ($wu > digit.word) {
    least[$w] = select(0u, least[$w], bin == 0u);
    most[$w] = select(most[$w], 0xffffffffu, ends);
  }
#endfor
  digit.counted = false;
  return pair_from(most);
}
