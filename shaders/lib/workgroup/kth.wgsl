// The k-th of the pairs that a workgroup holds in registers, EACH an invocation, at most 32.
// It counts digits of a pair's words, most significant first, until few pairs share the k-th's.
//
// The first digit is of the distance to the least first word: how many bits it has and the next
// KTH_FRACTION, as in a number with a floating point. So its bin has some 2^-KTH_FRACTION of the
// pairs before it, wherever the numbers lie. Further digits begin with a bit that differs.
#import workgroup/bins
#import workgroup/differing_bits

alias Items = array<Pair, EACH>;

const KTH_FRACTION: u32 = KTH_DIGIT - 5u;

var<workgroup> kth_least: atomic<u32>;

// A digit of a distance, in its order; the least distance (x) of a digit, and its free bits (y).
fn floating_digit(distance: u32) -> u32 {
  let bits = max(32u - countLeadingZeros(distance), KTH_FRACTION + 1u) - 1u;
  return ((bits - KTH_FRACTION) << KTH_FRACTION) + (distance >> (bits - KTH_FRACTION));
}
fn distances_with(digit: u32) -> vec2<u32> {
  let free = max(digit >> KTH_FRACTION, 1u) - 1u;
  return vec2<u32>((digit - (free << KTH_FRACTION)) << free, free);
}

// The least word of any invocation's.
fn least_of_all(local: u32, mine: u32) -> u32 {
  if (local == 0u) { atomicStore(&kth_least, 0xffffffffu); }
  workgroupBarrier();
  if (mine != 0xffffffffu) { atomicMin(&kth_least, mine); }
  workgroupBarrier();
  return atomicLoad(&kth_least);
}

// All invocations call it together, with k pairs or more among them, last_pair() not counted. As
// many as `slack` pairs more may precede or equal the pair returned, where that spares digits. All
// bins are left empty.
fn kth_of(items: ptr<function, Items>, local: u32, k: u32, slack: u32) -> Pair {
  kth_clear(local);
  var mine = 0xffffffffu;
  var open = 0u;  // a bit an item that may be the k-th: booleans take registers
#for i in EACH
  var words$i = words_of((*items)[$i]);
  if ((*items)[$i].index != NO_INDEX) {
    mine = min(mine, words$i.x);
    open |= $[1 << i]u;
  }
#endfor
  let least = least_of_all(local, mine);
#for i in EACH
  words$i.x -= least;
#endfor
  var rank = k;
  var threshold = vec3<u32>();
  var word = 0u;
  var high = 32u;
  var size = 0u;  // bits of a digit; none of the first, which is a number with a floating point
  var differing = ones(32u);
  // One copy of `kth_bin` serves all digits: so there is less to compile.
  loop {
#for i in EACH
    let digit$i = select((word_of(words$i, word) >> (high & 31u)) & ones(size), floating_digit(words$i.x), size == 0u);
    if ((open & $[1 << i]u) != 0u) { atomicAdd(&kth_bins[digit$i], 1u); }
#endfor
    let place = kth_bin(local, rank);
    rank -= place.y;
    // Direct3D 12's compiler FXC drops barriers behind a long chain of ands (docs/driver-bugs.md).
    var with_it = 0u;
#for i in EACH
    with_it |= select(0u, $[1 << i]u, digit$i == place.x);
#endfor
    open &= with_it;
    if (size == 0u) {
      let bin = distances_with(place.x);
      threshold.x = bin.x;
      high = bin.y;
    } else {
      threshold |= in_word(word, place.x << high);
    }
    size = 0u;
    // Where all of a bin are wanted, or nearly all, every later bit may be a one.
    while (size == 0u && place.z - rank > slack && word <= KEY_WORDS) {
      if (differing == ones(32u)) {
        var with_one = 0u;
        var with_zero = 0u;
#for i in EACH
        if ((open & $[1 << i]u) != 0u) {
          with_one |= word_of(words$i, word);
          with_zero |= ~word_of(words$i, word);
        }
#endfor
        let bits = differing_bits(local, with_one, with_zero);
        differing = bits.x;
        threshold |= in_word(word, bits.y & ones(high));
      }
      high = 32u - countLeadingZeros(differing & ones(high));
      if (high == 0u) {
        word++;
        high = 32u;
        differing = ones(32u);
      } else {
        size = min(high, KTH_DIGIT);
        high -= size;
      }
    }
    if (size == 0u) { break; }
  }
  threshold |= mask_below(Digit(word, high, 0u));
  threshold.x = least + min(threshold.x, 0xffffffffu - least);
  return pair_from(threshold);
}
