// The state of each sequence between the steps of a selection by delegates (binding 6): the number of pairs that asked for a place in
// its list, then the threshold's words.
#import pair
#import params

const STATE_WORDS: u32 = KEY_WORDS + 2u;

@group(0) @binding(6) var<storage, read_write> states: array<atomic<u32>>;  // [sequence][STATE_WORDS]

fn set_state(sequence: u32, threshold: Pair) {
  let at = sequence * STATE_WORDS;
  atomicStore(&states[at], 0u);
  atomicStore(&states[at + 1u], threshold.index);
#if KEY_WORDS == 1
  atomicStore(&states[at + 2u], threshold.key);
#else
  atomicStore(&states[at + 2u], threshold.key.x);
  atomicStore(&states[at + 3u], threshold.key.y);
#endif
}

fn threshold_of(sequence: u32) -> Pair {
  let at = sequence * STATE_WORDS;
#if KEY_WORDS == 1
  return Pair(atomicLoad(&states[at + 2u]), atomicLoad(&states[at + 1u]));
#else
  return Pair(Key(atomicLoad(&states[at + 2u]), atomicLoad(&states[at + 3u])), atomicLoad(&states[at + 1u]));
#endif
}
