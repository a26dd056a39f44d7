// An empty running top-k: -> state. What stands for no pair has the bits of the last number.
#import io/running

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (at >= params.sequences * row_words()) { return; }
  let word = at % row_words();
  var value = 0u;
  if (word >= HEAD) {
    let part = (word - HEAD) % ENTRY;
    value = select(select(params.nothing_low, params.nothing_high, part == 0u), 0xffffffffu, part >= KEY_WORDS);
  }
  state[at] = value;
}
