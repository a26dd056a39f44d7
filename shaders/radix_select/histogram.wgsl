// Radix select, a level: counts digits of pairs with the prefix: source -> histogram, progress.
#import io/source
#import io/digit
#import order/words
#import workgroup/digits

var<workgroup> bins: array<atomic<u32>, BINS>;

// The bits of each word of a pair that lie above the digit.
fn mask_of(word: u32) -> u32 { return bits_above(word, params.digit_word, params.digit_shift, params.digit_bits); }

fn run(workgroup: u32, local: u32) {
  let sequence = min(workgroup / params.parts, params.sequences - 1u);
  let part = workgroup % params.parts;
  let live = workgroup / params.parts < params.sequences;
  if (is_listed(local, sequence)) { return; }
  for (var b = local; b < BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
  let prefix = resolve(local, sequence, live && part == 0u);
  workgroupBarrier();
  if (live && prefix.rank != SETTLED) {
    let row = row_of(sequence);
    let wanted = threshold_of(prefix);
#if KEY_WORDS == 1
    let key_mask = mask_of(0u);
#else
    let key_mask = vec2<u32>(mask_of(0u), mask_of(1u));
#endif
    let index_mask = mask_of(KEY_WORDS);
    let run = run_of(part, local, row.loads);
    for (var q = run.x; q < run.y; q += 4u * run.z) {
#for u in 4
      let q$u = q + $uu * run.z;
      let v$u = min(q$u, row.loads - 1u);
      let data$u = load(row, v$u);
#endfor
#for u in 4
      if (q$u < run.y) {
#for c in PER_LOAD
        {
          let candidate = item(row, v$u, data$u, $cu);
#if KEY_WORDS == 1
          let differing = ((candidate.key ^ wanted.key) & key_mask) | ((candidate.index ^ wanted.index) & index_mask);
#else
          let both = (candidate.key ^ wanted.key) & key_mask;
          let differing = both.x | both.y | ((candidate.index ^ wanted.index) & index_mask);
#endif
          if ((differing == 0u) & (candidate.index != NO_INDEX)) {
            atomicAdd(&bins[digit_in(word_of_pair(candidate, params.digit_word))], 1u);
          }
        }
#endfor
      }
#endfor
    }
  }
  workgroupBarrier();
  let slot = slot_of(params.level, sequence);
  for (var b = local; b < BINS; b += WORKGROUP) {
    let count = atomicLoad(&bins[b]);
    if (live && count != 0u) { atomicAdd(&histogram[slot * BINS + b], count); }
  }
}
