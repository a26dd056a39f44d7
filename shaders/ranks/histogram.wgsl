// A level of several ranks: counts digits of pairs with their prefixes.
// source, ranks, histogram, progress -> histogram, progress
#import workgroup/rank_levels

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  if (id / params.parts >= params.sequences) { return; }
  let sequence = id / params.parts;
  let part = id % params.parts;
  if (!is_wanted(local, sequence)) { return; }
  clear_bins(local);
  take_slots(local, sequence);
  let place = slots_at(params.level, sequence);
  if (part == 0u && local < RANKS) { progress[place + local] = slots[local]; }
  if (most_crowded(local) == 0u) { return; }
  count_row(row_of(sequence), part * WORKGROUP + local, params.parts * WORKGROUP, Digit(params.digit_word, params.digit_shift, params.digit_bits));
  workgroupBarrier();
  for (var b = local; b < RANKS * BINS; b += WORKGROUP) {
    let count = atomicLoad(&bins[b]);
    if (count != 0u) { atomicAdd(&histogram[place * BINS + b], count); }
  }
}
