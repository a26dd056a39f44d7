// Several ranks by one workgroup, which counts digit after digit.
#import workgroup/rank_slots

fn counted(sequence: u32, slot: u32, bin: u32) -> u32 { return atomicLoad(&bins[slot * BINS + bin]); }

var<workgroup> shared_differing: vec3<u32>;

// Every slot's pair, of what the kernel's `count_items(kind, local, sequence, digit)` counts; or
// with `slack` a place near it. All of a workgroup call it together, after the slots were set: with
// what all items have in common, which are the bits before the first of `shared_differing`.
fn search(kind: u32, local: u32, sequence: u32, slack: u32) {
  let differing = workgroupUniformLoad(&shared_differing);
  clear_bins(local);
  find_owners(local);
  var digit = first_digit(differing, DIGIT);
  var crowd = 2u;
  loop {
    count_items(kind, local, sequence, digit);
    workgroupBarrier();
    if (digit.bits == 0u) { break; }
    resolve(local, sequence, digit, slack);
    clear_bins(local);
    crowd = most_crowded(local);
    if (crowd == 0u) { break; }
    // Where each slot's pair is alone, as after the last digit, it is asked for.
    let next = first_digit(~mask_above(Digit(digit.word, digit.shift, 0u)), DIGIT);
    if (crowd > 1u) { digit = next; } else { digit.bits = 0u; }
  }
  if (crowd > 0u && local < RANKS) { slots[local] = Slot(matched[owners[local]], SETTLED); }
  workgroupBarrier();
}
