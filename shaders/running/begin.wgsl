// An empty running top-k: -> state. What stands for no pair has the bits of the last number.
#import io/running

fn run(workgroup: u32, local: u32) {
  let at = workgroup * WORKGROUP + local;
  if (at >= params.sequences * row_words()) { return; }
  let word = at % row_words();
  var value = 0u;
  if (word >= HEAD) {
    let part = (word - HEAD) % ENTRY;
    value = select(select(params.nothing_low, params.nothing_high, part == 0u), 0xffffffffu, part >= KEY_WORDS);
  }
  state[at] = value;
}
