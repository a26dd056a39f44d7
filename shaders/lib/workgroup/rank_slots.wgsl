// Pairs at several ranks of a sequence, most significant digit first. Each rank has a slot: the
// prefix that its pair begins with, and its rank among those with that prefix.
//   RANKS      slots of a workgroup, a power of two; SLOT_STEPS is its logarithm
//   MATCHES    1 where a digit without bits asks for the pair with a prefix, which is then alone
//   BINS       counters of a slot, EACH_BINS for each of the TEAM invocations that scan them
#import io/source
#import io/used_bits
#import order/words
#import workgroup/scan

// Words of the pair (key high, key low, index) from the first on, then the rank left, from 1.
alias Slot = vec4<u32>;

// Ranks ascend, and so do prefixes. Those that are equal share the first one's counters.
var<workgroup> slots: array<Slot, RANKS>;
var<workgroup> owners: array<u32, RANKS>;
var<workgroup> bins: array<atomic<u32>, RANKS * BINS>;
#if MATCHES
var<workgroup> matched: array<vec3<u32>, RANKS>;     // [owner], a pair
#endif
var<workgroup> crowds: array<u32, RANKS>;            // pairs of a slot's bin
var<workgroup> shared_crowd: u32;

// Rank left that says: the words are the wanted pair, or near enough.
const SETTLED: u32 = 0u;

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

// The first slot whose prefix does not come before some words; the last where there is none.
fn slot_of(words: vec3<u32>) -> u32 {
  var at = 0u;
#for s in SLOT_STEPS
  at += select(0u, $[RANKS >> (s + 1)]u, words_before(slots[at + $[(RANKS >> (s + 1)) - 1]u].xyz, words));
#endfor
  return at;
}

// All of a workgroup together, after the slots were set and a barrier.
fn find_owners(local: u32) {
  if (local < RANKS) { owners[local] = slot_of(slots[local].xyz); }
  workgroupBarrier();
}

// The most pairs of any slot that is not settled. All of a workgroup together, after a barrier.
fn most_crowded(local: u32) -> u32 {
  if (local == 0u) {
    var most = 0u;
    for (var s = 0u; s < RANKS; s++) { most = max(most, select(crowds[s], 0u, slots[s].w == SETTLED)); }
    shared_crowd = most;
  }
  return workgroupUniformLoad(&shared_crowd);
}

// All of a workgroup together, before a barrier.
fn clear_bins(local: u32) {
  for (var b = local; b < RANKS * BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
}

// Counts the digit of a pair whose prefix is wanted. All pairs have the first digit's, which is the
// first slot's if any.
fn count_pair(pair: Pair, digit: Digit, above: vec3<u32>) {
  let words = words_of(pair);
  var slot = 0u;
  if (any(above != vec3<u32>())) { slot = slot_of(words & above); }
  if (all(slots[slot].xyz == (words & above)) & (pair.index != NO_INDEX)) {
    let bin = (word_of(words, digit.word) >> digit.shift) & ((1u << digit.bits) - 1u);
#if MATCHES
    if (digit.bits == 0u) {
      matched[slot] = words;
      return;
    }
#endif
    atomicAdd(&bins[slot * BINS + bin], 1u);
  }
}

fn count_load(row: Row, v: u32, data: Load, digit: Digit, above: vec3<u32>) {
#for c in PER_LOAD
  count_pair(item(row, v, data, $cu), digit, above);
#endfor
}

// Counts the loads first, first + stride, ... of a sequence.
fn count_row(row: Row, first: u32, stride: u32, digit: Digit) {
  let above = mask_above(digit);
  for (var q = first; q < row.loads; q += 4u * stride) {
#for u in 4
    let q$u = q + $uu * stride;
    let v$u = min(q$u, row.loads - 1u);
    let data$u = load(row, v$u);
#endfor
#for u in 4
    if (q$u < row.loads) { count_load(row, v$u, data$u, digit, above); }
#endfor
  }
}

// A slot with its digit. Where `slack` pairs or fewer share its prefix by then, it is settled: an
// even slot at the first pair that might follow, an odd one at the last.
fn with_bin(slot: Slot, number: u32, found: vec3<u32>, digit: Digit, slack: u32) -> Slot {
  if (slot.w == SETTLED) { return slot; }
  let words = slot.xyz | in_word(digit.word, found.x << digit.shift);
  if (found.z > slack) { return Slot(words, slot.w - found.y); }
  return Slot(select(words, words | mask_below(digit), number % 2u == 1u), SETTLED);
}

// Puts the digit that the kernel's `counted(sequence, slot, bin)` tells into every slot. All of a
// workgroup call it together. Those whose bin has one pair are done, or have `slack` or fewer.
fn resolve(local: u32, sequence: u32, digit: Digit, slack: u32) {
  let slot = local / TEAM;
  let first = local % TEAM * EACH_BINS;
  let left = slots[slot].w;
  var sum = 0u;
  // All of the loads are under way before the first is used.
#for b in EACH_BINS
  let count$b = counted(sequence, owners[slot], first + $bu);
#endfor
#for b in EACH_BINS
  sum += count$b;
#endfor
  var below = scan(local, sum).exclusive;
  var bin = vec3<u32>();  // its number, the pairs before it, those in it
#for b in EACH_BINS
  bin = select(bin, vec3<u32>(first + $bu, below, count$b), (below < left) & (left <= below + count$b));
  below += count$b;
#endfor
  if (bin.z > 0u) {
    slots[slot] = with_bin(slots[slot], slot, bin, digit, slack);
    crowds[slot] = bin.z;
  }
  workgroupBarrier();
  find_owners(local);
}
