// Several ranks by one workgroup, which counts digit after digit.
#import workgroup/rank_slots
#import io/used_bits

fn counted(sequence: u32, slot: u32, bin: u32) -> u32 { return atomicLoad(&bins[slot * BINS + bin]); }

// Every slot's pair, of what the kernel's `count_items(kind, local, sequence, digit)` counts. All
// of a workgroup call it together, after the slots were set.
fn search(kind: u32, local: u32, sequence: u32, slack: u32) {
  workgroupBarrier();
  find_owners(local);
  for (var word = 0u; word <= KEY_WORDS; word++) {
    let range = bits_of_word(word);
    var high = range.y;
    while (high > range.x) {
      let bits = min(DIGIT, high - range.x);
      high -= bits;
      if (all_settled(local)) { return; }
      clear_bins(local);
      count_items(kind, local, sequence, Digit(word, high, bits));
      workgroupBarrier();
      resolve(local, sequence, Digit(word, high, bits), slack);
    }
  }
}
