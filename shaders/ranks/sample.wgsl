// Estimates of brackets by samples of each row, a workgroup each: source, sampled -> brackets.
// They lie [sequence][end][sample]. Where there is one sample, its estimates are the brackets.
#import io/brackets
#import workgroup/rank_sample

fn count_items(part: u32, local: u32, sequence: u32, digit: Digit) {
  count_sample(local, part, row_of(sequence), digit, mask_above(digit));
}

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
  if (local < RANKS) { slots[local] = slot_sampled(local); }
  if (local == 0u) { shared_differing = vec3<u32>(0xffffffffu); }
  hold_sample(local, part, row_of(sequence));
  search(part, local, sequence, params.slack);
  if (local < 2u * BRACKETS) {
    let at = (sequence * 2u * BRACKETS + local) * params.parts + part;
    brackets[at] = slots[local];
  }
}
