// The pair of a rank in a row, by histograms of its digits: a read for each.
//
// A digit is of pairs that have the same words above it. What those do not differ in is left out.
//   COUNTED_AT_ONCE  loads under way at once
#import io/used_bits
#import workgroup/bins
#import workgroup/differing_bits

// A digit of pairs whose words begin with a prefix, and the bits of that.
struct Level { digit: Digit, prefix: vec3<u32>, above: vec3<u32> }

// Bits of the digit's word that some pair counted has, and that some has not.
var<private> with_one: u32;
var<private> with_zero: u32;

fn count_digit(pair: Pair, level: Level) {
  let words = words_of(pair);
  if (!any_bits((words ^ level.prefix) & level.above) & (pair.index != NO_INDEX)) {
    let word = word_of(words, level.digit.word);
    atomicAdd(&kth_bins[(word >> level.digit.shift) & ones(level.digit.bits)], 1u);
    with_one |= word;
    with_zero |= ~word;
  }
}

fn count_load(row: Row, v: u32, data: Load, level: Level) {
#for c in PER_LOAD
  count_digit(item(row, v, data, $cu), level);
#endfor
}

fn count_row(row: Row, local: u32, level: Level) {
  with_one = 0u;
  with_zero = 0u;
  for (var v = local; v < row.loads; v += COUNTED_AT_ONCE * WORKGROUP) {
#for u in COUNTED_AT_ONCE
    let data$u = load(row, min(v + $uu * WORKGROUP, row.loads - 1u));
#endfor
#for u in COUNTED_AT_ONCE
    if (v + $uu * WORKGROUP < row.loads) { count_load(row, v + $uu * WORKGROUP, data$u, level); }
#endfor
  }
}

// The pair that so many precede or equal, or one that is up to `slack` later. All bins are empty,
// before and after. All invocations call it together.
fn kth_of_row(row: Row, local: u32, k: u32, slack: u32) -> Pair {
  var prefix = vec3<u32>();
  var rank = k;
  var word = 0u;
  var high = 32u;
  loop {
    let low = bits_of_word(word).x;
    let size = min(high - low, KTH_DIGIT);
    let digit = Digit(word, high - size, size);
    count_row(row, local, Level(digit, prefix, mask_above(digit)));
    let bin = kth_bin(local, rank);
    rank -= bin.y;
    high -= size;
    prefix |= in_word(word, bin.x << high);
    if (bin.z - rank <= slack) {
      prefix |= mask_below(Digit(word, high, 0u));
      break;
    }
    let bits = differing_bits(local, with_one, with_zero);
    prefix |= in_word(word, bits.y & ones(high));
    high = 32u - countLeadingZeros(bits.x & ones(high));
    if (high <= low) {
      word++;
      if (word > KEY_WORDS) { break; }
      high = bits_of_word(word).y;
    }
  }
  return pair_from(prefix);
}
