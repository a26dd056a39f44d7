// Last-block reduction: the workgroups of a sequence each publish a pair; the last consumes all.
// `meeting` lies in scratch, is zero before every dispatch that uses it, and is left so.
//
// WGSL's atomics are relaxed: who counts the last arrival may not see what others published before.
// So a published word has its highest bit set, and its consumer looks until that bit is there. The
// bits that this hides are in one word more. Nobody waits for another workgroup to go on: arrivals
// add what publishing the words returned, so they count once those are published.
#import order/pair

const MEETING_WORDS: u32 = PAIR_WORDS + 1u;
const PUBLISHED: u32 = 0x80000000u;

// [sequence][rounds that were taken, parts that have arrived], then [sequence][word][part].
@group(0) @binding(9) var<storage, read_write> meeting: array<atomic<u32>>;

// The next of the rounds that nobody has taken, but for the first of each part.
fn next_round(sequence: u32) -> u32 { return atomicAdd(&meeting[2u * sequence], 1u); }

fn place_in_meeting(sequence: u32, word: u32, part: u32) -> u32 {
  return 2u * params.sequences + (sequence * MEETING_WORDS + word) * params.parts + part;
}

// Publishes a part's pair. True for the last part of the sequence.
fn publish(sequence: u32, part: u32, pair: Pair) -> bool {
  let stored = store_of(pair);
  var hidden = PUBLISHED;
  var returned = 0u;  // what was there: nothing
#for w in PAIR_WORDS
  returned |= atomicExchange(&meeting[place_in_meeting(sequence, $wu, part)], stored[$w] | PUBLISHED);
  hidden |= (stored[$w] >> 31u) << $wu;
#endfor
  returned |= atomicExchange(&meeting[place_in_meeting(sequence, PAIR_WORDS, part)], hidden);
  return atomicAdd(&meeting[2u * sequence + 1u], 1u + returned) == params.parts - 1u;
}

// For the last one: a part's pair, whose words become zero.
fn consume(sequence: u32, part: u32) -> Pair {
  var hidden = atomicExchange(&meeting[place_in_meeting(sequence, PAIR_WORDS, part)], 0u);
#for w in PAIR_WORDS
  var word$w = atomicExchange(&meeting[place_in_meeting(sequence, $wu, part)], 0u);
#endfor
  while (hidden == 0u) { hidden = atomicExchange(&meeting[place_in_meeting(sequence, PAIR_WORDS, part)], 0u); }
  var stored: Stored;
#for w in PAIR_WORDS
  while (word$w == 0u) { word$w = atomicExchange(&meeting[place_in_meeting(sequence, $wu, part)], 0u); }
  stored[$w] = (word$w & ~PUBLISHED) | (((hidden >> $wu) & 1u) << 31u);
#endfor
  return pair_of(stored);
}

// For the last one, once: counts back as many rounds and parts as were counted.
fn reset(sequence: u32, rounds: u32) {
  atomicSub(&meeting[2u * sequence], rounds);
  atomicSub(&meeting[2u * sequence + 1u], params.parts);
}
