// Last-block reduction: workgroups of a sequence publish pairs; the last to arrive consumes all.
// `meeting` is zero before every dispatch that uses it, and is left so.
//
// WGSL's atomics are relaxed: who counts the last arrival may not see what others published before.
// So a published word has its highest bit set, and its consumer looks until that bit is there. The
// bits that this hides are in one word more. Nobody waits for another workgroup to go on: arrivals
// add what publishing the words returned, so they count once those are published.
#import order/pair

const MEETING_WORDS: u32 = PAIR_WORDS + 1u;
const PUBLISHED: u32 = 0x80000000u;
const FOUND: u32 = 0x10000u;  // there are fewer parts

// [sequence]: how many of the kernel's numbers were taken; parts that have arrived; [word][place].
@group(0) @binding(10) var<storage, read_write> meeting: array<atomic<u32>>;

fn meeting_of(sequence: u32) -> u32 { return sequence * (2u + MEETING_WORDS * params.meeting_places); }

// The first of so many numbers that nobody has taken.
fn next_of(sequence: u32, count: u32) -> u32 { return atomicAdd(&meeting[meeting_of(sequence)], count); }

fn place_in_meeting(sequence: u32, word: u32, place: u32) -> u32 {
  return meeting_of(sequence) + 2u + word * params.meeting_places + place;
}

// Publishes a pair at a place. Returns what was there: nothing.
fn publish(sequence: u32, place: u32, pair: Pair) -> u32 {
  let stored = store_of(pair);
  var hidden = PUBLISHED;
  var was = 0u;
#for w in PAIR_WORDS
  was |= atomicExchange(&meeting[place_in_meeting(sequence, $wu, place)], stored[$w] | PUBLISHED);
  hidden |= (stored[$w] >> 31u) << $wu;
#endfor
  was |= atomicExchange(&meeting[place_in_meeting(sequence, PAIR_WORDS, place)], hidden);
  return was;
}

// A part's arrival, once all that it publishes has returned. `tells`: others must know of it. For
// the last part 1, or more where any has found something; else 0.
fn arrive(sequence: u32, was: u32, tells: bool) -> u32 {
  let before = atomicAdd(&meeting[meeting_of(sequence) + 1u], 1u + was + select(0u, FOUND, tells));
  return select(0u, 1u + before / FOUND + u32(tells), before % FOUND == params.parts - 1u);
}

// For the last one: a pair, whose words become zero.
fn consume(sequence: u32, place: u32) -> Pair {
  var hidden = atomicExchange(&meeting[place_in_meeting(sequence, PAIR_WORDS, place)], 0u);
#for w in PAIR_WORDS
  var word$w = atomicExchange(&meeting[place_in_meeting(sequence, $wu, place)], 0u);
#endfor
  while (hidden == 0u) { hidden = atomicExchange(&meeting[place_in_meeting(sequence, PAIR_WORDS, place)], 0u); }
  var stored: Stored;
#for w in PAIR_WORDS
  while (word$w == 0u) { word$w = atomicExchange(&meeting[place_in_meeting(sequence, $wu, place)], 0u); }
  stored[$w] = (word$w & ~PUBLISHED) | (((hidden >> $wu) & 1u) << 31u);
#endfor
  return pair_of(stored);
}

// For the last one: how many numbers were taken.
fn numbers_of(sequence: u32) -> u32 { return atomicAdd(&meeting[meeting_of(sequence)], 0u); }

// For the last one, at its end.
fn end_meeting(sequence: u32) {
  atomicStore(&meeting[meeting_of(sequence)], 0u);
  atomicStore(&meeting[meeting_of(sequence) + 1u], 0u);
}

// For the last one, in place of all pairs.
fn clear_meeting(local: u32, sequence: u32) {
  for (var i = local; i < MEETING_WORDS * params.meeting_places; i += WORKGROUP) {
    atomicStore(&meeting[meeting_of(sequence) + 2u + i], 0u);
  }
}
