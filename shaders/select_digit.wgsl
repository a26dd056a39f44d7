// Radix select, one level: counts a digit of the pairs that share the prefix found so far: source (1 to 3) -> histogram (6), progress (7).
#import source
#import digits

var<workgroup> bins: array<atomic<u32>, BINS>;

fn shares(pair: Pair, prefix: Prefix) -> bool {
  for (var w = 0u; w < params.digit_word; w++) {
    if (word_of(pair, w) != prefix.words[w]) { return false; }
  }
  let differing = word_of(pair, params.digit_word) ^ prefix.words[params.digit_word];
  return ((differing >> params.digit_shift) >> params.digit_bits) == 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id / params.split, params.sequences - 1u);
  let part = id % params.split;
  let live = id / params.split < params.sequences;
  for (var b = local; b < BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
  let prefix = resolve(local, sequence, live && part == 0u);
  workgroupBarrier();
  if (live && prefix.rank != SETTLED) {
    let row = row_of(sequence);
    for (var q = part * WORKGROUP + local; q < row.loads; q += params.split * WORKGROUP) {
      let v = load_of(row, q);
      let data = load(row, v);
#for c in PER_LOAD
      {
        let candidate = item(row, v, data, $cu);
        if (candidate.index != NO_INDEX && shares(candidate, prefix)) {
          let digit = (word_of(candidate, params.digit_word) >> params.digit_shift) & ((1u << params.digit_bits) - 1u);
          atomicAdd(&bins[digit], 1u);
        }
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
