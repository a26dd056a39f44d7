// Estimates of brackets by samples of each row, a workgroup each: source, sampled -> brackets.
// They lie [sequence][end][sample]. Where there is one sample, its estimates are the brackets.
#import io/brackets
#import workgroup/rank_sample

fn count_items(part: u32, local: u32, sequence: u32, digit: Digit) {
  count_sample(local, part, row_of(sequence), digit, mask_above(digit));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  if (id / params.parts >= params.sequences) { return; }
  let sequence = id / params.parts;
  let part = id % params.parts;
  if (local < RANKS) { slots[local] = slot_sampled(local); }
  if (local == 0u) { shared_differing = vec3<u32>(0xffffffffu); }
  hold_sample(local, part, row_of(sequence));
  search(part, local, sequence, params.slack);
  if (local < 2u * BRACKETS) {
    let at = (sequence * 2u * BRACKETS + local) * params.parts + part;
    brackets[at] = slots[local];
  }
}
