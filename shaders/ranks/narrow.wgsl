// The pairs of lists that have the digit of a wanted one, behind each list.
// source (lists), histogram, progress -> lists, narrowed (zeros before), progress
#import workgroup/rank_levels

@group(0) @binding(5) var<storage, read_write> narrowed: array<atomic<u32>>;  // [list]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  if (id / params.parts >= params.sequences) { return; }
  let list = id / params.parts;
  let part = id % params.parts;
  if (!is_wanted(local, list)) { return; }
  take_slots(local, list);
  let digit = digit_of(list);
  if (part == 0u && local < RANKS) { progress[slots_at(1u, list) + local] = slots[local]; }
  if (part == 0u && local == 0u) { progress[slots_at(2u, 0u) + list] = vec4<u32>(digit.word, digit.shift, 1u, 0u); }
  let row = row_of(list);
  let mask = mask_above(Digit(digit.word, digit.shift, 0u));
  for (var q = part * WORKGROUP + local; q < row.loads; q += params.parts * WORKGROUP) {
    let pair = load(row, q);
    let words = words_of(pair) & mask;
    if (all(slots[slot_of(words)].xyz == words)) {
      let at = atomicAdd(&narrowed[list], 1u);
      if (at < params.longest) {
        source_keys[row.start + params.places + at] = pair.key;
        source_indices[row.start + params.places + at] = pair.index;
      }
    }
  }
}
