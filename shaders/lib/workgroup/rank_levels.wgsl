// The slots of a sequence from level to level, by what the level before has counted.
#import workgroup/rank_slots

// [level][sequence][slot][bin], and [level][sequence][slot].
@group(0) @binding(6) var<storage, read_write> histogram: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;

fn slots_at(level: u32, sequence: u32) -> u32 { return (level * params.sequences + sequence) * RANKS; }

fn counted(sequence: u32, slot: u32, bin: u32) -> u32 {
  return atomicLoad(&histogram[(slots_at(params.level - 1u, sequence) + slot) * BINS + bin]);
}

// The slots with the digit of the level before. All of a workgroup call it together.
fn take_slots(local: u32, sequence: u32) {
  let before = max(params.level, 1u) - 1u;
  if (local < RANKS) { slots[local] = progress[slots_at(before, sequence) + local]; }
  workgroupBarrier();
  find_owners(local);
  if (params.level > 0u) { resolve(local, sequence, Digit(params.previous_word, params.previous_shift, 0u)); }
}
