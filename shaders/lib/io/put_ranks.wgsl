// The first k pairs of sequences that a workgroup has in order -> sink, side by side.
//
// The kernel's `ranked(slot, rank)` is the pair at a rank of the slot-th of its sequences. Values
// narrower than a word share words: one invocation writes all of a word, and only the first and the
// last word of a run of values, which others share, take an atomic operation.
//   NARROW      1 where values are narrower than a word
//   WORD_RANKS  values of a word
#import io/quotient
#import io/sink

fn put_one_by_one(sequence: u32, count: u32, local: u32) {
  for (var slot = 0u; slot < count; slot++) {
    let to = target_of(sequence + slot);
    for (var rank = local; rank < params.k; rank += WORKGROUP) { put_to(to, rank, ranked(slot, rank)); }
  }
}

#if NARROW

// Runs of values that lie one after the other. A run begins with the ranks of a sequence, or, where
// neighbours are `down` columns, with the sequences at a rank. It has `period` of those, and then
// as many of the next sequence or rank. All sequences of a run lie along one dimension.
struct ValueRuns { sequence: u32, slot: u32, down: bool, count: u32, length: u32, period: u32 }

// The values of one word: those of a run from `first` on, which the run may not have. `to` is the
// run's first sequence.
fn put_word(runs: ValueRuns, run: u32, to: Target, place: u32, first: u32, period: Divisor) {
  var mask = 0u;
  var word = 0u;
#for c in WORD_RANKS
  let at$c = first + $cu;  // wraps before the run
  if (at$c < runs.length) {
    let periods$c = quotient(at$c, period);
    let within$c = at$c - periods$c * runs.period;
    let beside$c = target_beside(to, select(periods$c, within$c, runs.down));
    let rank$c = select(within$c, run + periods$c, runs.down);
    let result$c = result_of(beside$c, rank$c, ranked(runs.slot + select(run + periods$c, within$c, runs.down), rank$c));
    mask |= bits_for_word($cu, 0xffffffffu);
    word |= bits_for_word($cu, result$c.bits);
    put_index(beside$c.offsets.z + rank$c * params.index_step, result$c.index);
  }
#endfor
  if (mask == 0xffffffffu) { atomicStore(&values[place], word); } else { put_bits(place, mask, word); }
}

fn put_runs(runs: ValueRuns, local: u32) {
  let words = (runs.length + 2u * WORD_RANKS - 2u) / WORD_RANKS;  // of a run, wherever it begins
  let period = divisor_for(runs.period, runs.length);
  let run_words = divisor_for(words, runs.count * words);
  for (var w = local; w < runs.count * words; w += WORKGROUP) {
    let run = quotient(w, run_words);
    let to = target_of(runs.sequence + select(run, 0u, runs.down));
    let start = to.offsets.y + select(0u, run * params.value_step, runs.down);
    let skew = start % WORD_RANKS;
    let first = (w - run * words) * WORD_RANKS;
    if (first < runs.length + skew) { put_word(runs, run, to, (start - skew + first) / WORD_RANKS, first - skew, period); }
  }
}

// All invocations call it together, for `count` sequences from one on.
fn put_ranks(sequence: u32, count: u32, local: u32) {
  if (params.value_step == 1u) {
    // All values are one run where a sequence's follow the last one's.
    let one_run = params.batch_dims == 1u && params.batch[0].z == params.k;
    let length = select(params.k, count * params.k, one_run);
    put_runs(ValueRuns(sequence, 0u, false, select(count, min(count, 1u), one_run), length, params.k), local);
    return;
  }
  if (count <= 1u || params.batch[0].z != 1u) {
    put_one_by_one(sequence, count, local);
    return;
  }
  let columns = params.batch[0].x;
  for (var slot = 0u; slot < count;) {
    let beside = min(count - slot, columns - (sequence + slot) % columns);
    // All values are one run where a rank's columns follow the last one's.
    let one_run = params.value_step == beside;
    let length = select(beside, params.k * beside, one_run);
    put_runs(ValueRuns(sequence + slot, slot, true, select(params.k, 1u, one_run), length, beside), local);
    slot += beside;
  }
}

#else

// All invocations call it together, for `count` sequences from one on.
fn put_ranks(sequence: u32, count: u32, local: u32) {
  let columns = params.batch[0].x;
  // Neighbours put neighbouring ranks, or those of neighbouring columns.
  let down = ranks_lie_apart();
  if (count <= 1u || (params.k >= WORKGROUP && !down) || sequence % columns + count > columns) {
    put_one_by_one(sequence, count, local);
    return;
  }
  let beside = select(params.k, count, down);
  let divisor = divisor_for(beside, count * params.k);
  let to = target_of(sequence);
  for (var e = local; e < count * params.k; e += WORKGROUP) {
    let apart = quotient(e, divisor);
    let within = e - apart * beside;
    let slot = select(apart, within, down);
    let rank = select(within, apart, down);
    put_to(target_beside(to, slot), rank, ranked(slot, rank));
  }
}

#endif
