// The pairs at several ranks of each sequence, by a workgroup each: source, ranks -> sink.
//
// It reads the sequence once a digit.
#import workgroup/rank_slots
#import io/ranks
#import io/sink

fn counted(sequence: u32, slot: u32, bin: u32) -> u32 { return atomicLoad(&bins[slot * BINS + bin]); }

// The lowest bit of a word of pairs that is used, and the one above its highest.
fn bits_of_word(word: u32) -> vec2<u32> {
  if (word == KEY_WORDS) { return vec2<u32>(0u, params.index_bits); }
  return vec2<u32>(32u - min(32u, params.key_bits - 32u * word), 32u);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id, params.sequences - 1u);
  if (local < RANKS) { slots[local] = Slot(0u, 0u, 0u, rank_of(sequence, local)); }
  workgroupBarrier();
  find_owners(local);
  let row = row_of(sequence);
  for (var word = 0u; word <= KEY_WORDS; word++) {
    let range = bits_of_word(word);
    var high = range.y;
    while (high > range.x) {
      let bits = min(DIGIT, high - range.x);
      high -= bits;
      clear_bins(local);
      count_row(row, local, WORKGROUP, Digit(word, high, bits));
      workgroupBarrier();
      resolve(local, sequence, Digit(word, high, bits));
    }
  }
  if (id < params.sequences && local < params.ranks) {
    put(sequence, params.first_rank + local, pair_from(slots[local].xyz));
  }
}
