// Several ranks by one workgroup, which counts digit after digit.
#import workgroup/rank_slots
#import io/used_bits

fn counted(sequence: u32, slot: u32, bin: u32) -> u32 { return atomicLoad(&bins[slot * BINS + bin]); }

// The words' bits before the first of those that differ.
fn common_of(words: vec3<u32>, differing: vec3<u32>) -> vec3<u32> {
  var shared_bits = vec3<u32>();
  var differs = false;
#for w in 3
  let leading$w = countLeadingZeros(differing[$w]);
  shared_bits[$w] = select(words[$w] & ~select(0u, 0xffffffffu >> leading$w, leading$w < 32u), 0u, differs);
  differs = differs || leading$w < 32u;
#endfor
  return shared_bits;
}

var<workgroup> shared_differing: vec3<u32>;

// Every slot's pair, of what the kernel's `count_items(kind, local, sequence, digit)` counts; or
// with `slack` a place near it. All of a workgroup call it together, after the slots were set: with
// what all items have in common, which are the bits before the first of `shared_differing`.
fn search(kind: u32, local: u32, sequence: u32, slack: u32) {
  let differing = workgroupUniformLoad(&shared_differing);
  clear_bins(local);
  find_owners(local);
  var word = 0u;
  var range = bits_of_word(word);
  while (word < KEY_WORDS && (word_at(differing, word) >> range.x) == 0u) {
    word++;
    range = bits_of_word(word);
  }
  var high = min(range.y, 32u - countLeadingZeros(word_at(differing, word)));
  var crowd = 2u;
  loop {
    // After the last digit, or where each slot's pair is alone, it is asked for.
    let bits = select(0u, min(DIGIT, high - range.x), crowd > 1u && high > range.x);
    high -= bits;
    count_items(kind, local, sequence, Digit(word, high, bits));
    workgroupBarrier();
    if (bits == 0u) { break; }
    resolve(local, sequence, Digit(word, high, bits), slack);
    clear_bins(local);
    crowd = most_crowded(local);
    if (crowd == 0u) { break; }
    if (high == range.x && word < KEY_WORDS) {
      word++;
      range = bits_of_word(word);
      high = range.y;
    }
  }
  if (crowd > 0u && local < RANKS) { slots[local] = Slot(matched[owners[local]], SETTLED); }
  workgroupBarrier();
}
