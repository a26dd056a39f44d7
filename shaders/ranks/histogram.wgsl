// A level of several ranks: counts digits of pairs with their prefixes.
// source, histogram, progress -> histogram, progress
#import workgroup/rank_levels

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let live = id / params.parts < params.sequences;
  let sequence = min(id / params.parts, params.sequences - 1u);
  let part = id % params.parts;
  clear_bins(local);
  take_slots(local, sequence);
  let place = slots_at(params.level, sequence);
  if (live && part == 0u && params.level > 0u && local < RANKS) { progress[place + local] = slots[local]; }
  let row = row_of(sequence);
  let first = select(row.loads, part * WORKGROUP + local, live);
  count_row(row, first, params.parts * WORKGROUP, Digit(params.digit_word, params.digit_shift, params.digit_bits));
  workgroupBarrier();
  for (var b = local; b < RANKS * BINS; b += WORKGROUP) {
    let count = atomicLoad(&bins[b]);
    if (count != 0u) { atomicAdd(&histogram[place * BINS + b], count); }
  }
}
