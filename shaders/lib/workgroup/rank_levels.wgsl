// The slots of a sequence from level to level, by what the level before has counted.
//   GATE  1 where nothing is done for sequences that `status` calls done; 2 where nothing else is,
//         and a sequence has params.chosen lists between brackets; 0 where there is no `status`
#import workgroup/rank_slots
#if GATE == 2
#import io/brackets
#endif

// [level][sequence][slot][bin], and [level][sequence][slot].
@group(0) @binding(6) var<storage, read_write> histogram: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;

#if GATE
@group(0) @binding(9) var<storage, read_write> status: array<u32>;  // [sequence], 1 for done

var<workgroup> shared_status: u32;
#endif

// Whether the workgroup has work. All of it call it together.
fn is_wanted(local: u32, sequence: u32) -> bool {
#if GATE
  if (local == 0u) { shared_status = status[select(sequence, sequence / params.chosen, GATE == 2u)]; }
  return workgroupUniformLoad(&shared_status) == GATE - 1u;
#else
  return true;
#endif
}

fn slots_at(level: u32, sequence: u32) -> u32 { return (level * params.sequences + sequence) * RANKS; }

fn counted(sequence: u32, slot: u32, bin: u32) -> u32 {
  return atomicLoad(&histogram[(slots_at(params.level - 1u, sequence) + slot) * BINS + bin]);
}

#if GATE == 2
// The digit of a list is where its bracket's ends differ.
fn digit_of(list: u32) -> Digit { return first_digit(low_of(list) ^ high_of(list), firstTrailingBit(BINS)); }
fn digit_before(list: u32) -> Digit { return digit_of(list); }
#else
fn digit_of(sequence: u32) -> Digit { return Digit(params.digit_word, params.digit_shift, params.digit_bits); }
fn digit_before(sequence: u32) -> Digit { return Digit(params.previous_word, params.previous_shift, 0u); }
#endif

// The slots with the digit of the level before. All of a workgroup call it together.
fn take_slots(local: u32, sequence: u32) {
  let before = max(params.level, 1u) - 1u;
  if (local < RANKS) {
    slots[local] = progress[slots_at(before, sequence) + local];
    crowds[local] = params.length;
  }
  workgroupBarrier();
  find_owners(local);
  if (params.level == 0u) { return; }
  resolve(local, sequence, digit_before(sequence), 0u);
}
