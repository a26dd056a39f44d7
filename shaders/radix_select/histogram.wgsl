// Radix select, a level: counts digits of pairs with the prefix: source -> histogram, progress.
#import io/source
#import io/digit
#import workgroup/digits

var<workgroup> bins: array<atomic<u32>, BINS>;

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
    let above = mask_above(Digit(params.digit_word, params.digit_shift, params.digit_bits));
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
          let differing = (words_of(candidate) ^ prefix.words) & above;
          if (!any_bits(differing) & (candidate.index != NO_INDEX)) {
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
