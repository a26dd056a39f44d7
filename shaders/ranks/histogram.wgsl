// A level of several ranks, or of a threshold: counts digits of pairs with their prefixes.
// source, ranks, histogram, progress -> histogram, progress
#import workgroup/rank_bins
#import workgroup/rank_levels

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
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
