// Counts digits of a sequence's pairs, for each slot those that have its prefix.
//   MATCHES  1 where a digit without bits asks for the pair with a prefix, which is then alone
#import io/source
#import workgroup/rank_slots

var<workgroup> bins: array<atomic<u32>, RANKS * BINS>;
#if MATCHES
var<workgroup> matched: array<vec3<u32>, RANKS>;  // [owner], a pair
#endif

// All of a workgroup together, before a barrier.
fn clear_bins(local: u32) {
  for (var b = local; b < RANKS * BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
}

// Counts the digit of a pair whose prefix is wanted. All pairs have the first digit's, which is the
// first slot's if any.
fn count_pair(pair: Pair, digit: Digit, above: vec3<u32>) {
  let words = words_of(pair);
#if RANKS == 1
  let slot = 0u;
  let wanted = !any_bits((words ^ only_prefix) & above);
#else
  var slot = 0u;
  if (any(above != vec3<u32>())) { slot = slot_of(words & above); }
  let wanted = all(slots[slot].xyz == (words & above));
#endif
  if (wanted & (pair.index != NO_INDEX)) {
    let bin = (word_of(words, digit.word) >> digit.shift) & ((1u << digit.bits) - 1u);
#if MATCHES
    if (digit.bits == 0u) {
      matched[slot] = words;
      return;
    }
#endif
    atomicAdd(&bins[slot * BINS + bin], 1u);
  }
}

fn count_load(row: Row, v: u32, data: Load, digit: Digit, above: vec3<u32>) {
#for c in PER_LOAD
  count_pair(item(row, v, data, $cu), digit, above);
#endfor
}

// Counts the loads first, first + stride, ... of a sequence.
fn count_row(row: Row, first: u32, stride: u32, digit: Digit) {
  let above = mask_above(digit);
  for (var q = first; q < row.loads; q += 4u * stride) {
#for u in 4
    let q$u = q + $uu * stride;
    let v$u = min(q$u, row.loads - 1u);
    let data$u = load(row, v$u);
#endfor
#for u in 4
    if (q$u < row.loads) { count_load(row, v$u, data$u, digit, above); }
#endfor
  }
}
