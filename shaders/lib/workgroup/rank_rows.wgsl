// Several ranks by one workgroup, which counts digit after digit.
#import io/used_bits
#import workgroup/rank_bins

fn counted(sequence: u32, slot: u32, bin: u32) -> u32 { return atomicLoad(&bins[slot * BINS + bin]); }

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

// Counts what an invocation holds, as `count_pair` does. A digit of a key of one word needs little.
fn count_held(pair: Pair, digit: Digit, above: vec3<u32>) {
#if KEY_WORDS == 1
  if (digit.word == 0u && digit.bits > 0u) {
    let prefix = pair.key & above.x;
    var slot = 0u;
#for s in SLOT_STEPS
    slot += select(0u, $[RANKS >> (s + 1)]u, slots[slot + $[(RANKS >> (s + 1)) - 1]u].x < prefix);
#endfor
    if (slots[slot].x == prefix) {
      atomicAdd(&bins[slot * BINS + ((pair.key >> digit.shift) & ((1u << digit.bits) - 1u))], 1u);
    }
    return;
  }
#endif
  count_pair(pair, digit, above);
}

var<workgroup> shared_differing: vec3<u32>;

// Every slot's pair, of what the kernel's `count_items(kind, local, sequence, digit)` counts; or
// with `slack` a place near it. All of a workgroup call it together, after the slots were set: with
// what all items have in common, which are the bits before the first of `shared_differing`.
fn search(kind: u32, local: u32, sequence: u32, slack: u32) {
  let differing = workgroupUniformLoad(&shared_differing);
  clear_bins(local);
  find_owners(local);
  var digit = first_digit(differing, DIGIT);
  var crowd = 2u;
  var last = digit.bits == 0u;
  loop {
    count_items(kind, local, sequence, digit);
    workgroupBarrier();
    if (last) { break; }
    resolve(local, sequence, digit, slack);
    clear_bins(local);
    crowd = most_crowded(local);
    if (crowd == 0u) { break; }
    // Where each slot's pair is alone, as after the last digit, it is asked for. Positions may have
    // no bits: pairs are alike after the last digit of their keys.
    let next = first_digit(mask_below(digit), DIGIT);
    if (crowd > 1u && next.bits == 0u) {
      crowd = 0u;
      break;
    }
    // What a barrier waits for is told apart from what counts: FXC takes one for the other.
    last = crowd == 1u;
    if (last) { digit.bits = 0u; } else { digit = next; }
  }
  if (crowd > 0u && local < RANKS) { slots[local] = Slot(matched[owners[local]], SETTLED); }
  workgroupBarrier();
}
