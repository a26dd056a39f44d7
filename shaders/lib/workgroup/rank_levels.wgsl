// The slots of a sequence from level to level, by what the level before has counted. The first
// level has the wanted ranks.
//   GATE     1 where nothing is done but for sequences that `missed` names; 2 where it tells how
//            many pairs lists have, and those with params.k to params.places are left alone
//   FIRST_K  1 where the rank is params.k
#import workgroup/rank_slots
#import io/params
#if FIRST_K
fn rank_of(sequence: u32, slot: u32) -> u32 { return params.k; }
#else
#import io/ranks
#endif

// [level][sequence][slot][bin], and [level][sequence][slot].
@group(0) @binding(13) var<storage, read_write> histogram: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;

#if GATE
#import workgroup/same

@group(0) @binding(9) var<storage, read_write> missed: array<u32>;  // [sequence]
#endif

// Whether the workgroup has work. All of it call it together.
fn is_wanted(local: u32, sequence: u32) -> bool {
#if GATE
  let told = same_for_all(local, missed[sequence]);
  return select(told < params.k || told > params.places, told != 0u, GATE == 1u);
#else
  return true;
#endif
}

fn slots_at(level: u32, sequence: u32) -> u32 { return (level * params.sequences + sequence) * RANKS; }

fn counted(sequence: u32, slot: u32, bin: u32) -> u32 {
  return atomicLoad(&histogram[(slots_at(params.level - 1u, sequence) + slot) * BINS + bin]);
}

// The slots with the digit of the level before. All of a workgroup call it together.
fn take_slots(local: u32, sequence: u32) {
  if (local < RANKS) {
    if (params.level == 0u) {
      slots[local] = Slot(0u, 0u, 0u, rank_of(sequence, local));
    } else {
      slots[local] = progress[slots_at(params.level - 1u, sequence) + local];
    }
    crowds[local] = params.length;
  }
  workgroupBarrier();
  find_owners(local);
  if (params.level == 0u) { return; }
  resolve(local, sequence, Digit(params.previous_word, params.previous_shift, 0u), 0u);
}
