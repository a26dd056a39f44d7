// Pairs at several ranks of a sequence, most significant digit first. Each rank has a slot: the
// prefix that its pair begins with, and its rank among those with that prefix.
//   RANKS      slots of a workgroup, a power of two; SLOT_STEPS is its logarithm
//   FIRST_K    1 where a slot is any pair that so many precede or equal: a threshold
//   BINS       counters of a slot, EACH_BINS for each of the TEAM invocations that scan them
#import order/words
#import workgroup/scan

// Words of the pair (key high, key low, index) from the first on, then the rank left, from 1.
alias Slot = vec4<u32>;

// Ranks ascend, and so do prefixes. Those that are equal share the first one's counters.
var<workgroup> slots: array<Slot, RANKS>;
var<workgroup> owners: array<u32, RANKS>;
var<workgroup> crowds: array<u32, RANKS>;  // pairs of a slot's bin
var<workgroup> shared_crowd: u32;

#if RANKS == 1
var<private> only_prefix: vec3<u32>;  // in registers
#endif

// Rank left that says: the words are the wanted pair, or near enough.
const SETTLED: u32 = 0u;

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
#if RANKS == 1
  only_prefix = slots[0].xyz;
#endif
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

// A slot with its digit. Where `slack` pairs or fewer share its prefix by then, it is settled: an
// even slot at the first pair that might follow, an odd one at the last. A threshold is settled at
// the last where `slack` or fewer of those with its prefix come after it.
fn with_bin(slot: Slot, number: u32, found: vec3<u32>, digit: Digit, slack: u32) -> Slot {
  if (slot.w == SETTLED) { return slot; }
  let words = slot.xyz | in_word(digit.word, found.x << digit.shift);
  let left = slot.w - found.y;
  if (found.z - select(0u, left, FIRST_K > 0u) > slack) { return Slot(words, left); }
  return Slot(select(words, words | mask_below(digit), (number + FIRST_K) % 2u == 1u), SETTLED);
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
#if RANKS == 1
  only_prefix = slots[0].xyz;  // The one slot stays its owner.
#else
  find_owners(local);
#endif
}
