// Ranks of sequences that a workgroup has in order -> sink, side by side.
//
// The kernel's `ranked(slot, rank)` is the pair at a rank of the slot-th of its sequences. Values
// narrower than a word share words: one invocation writes all of a word, and only the first and the
// last word of a run of values, which others share, take an atomic operation.
//   NARROW      1 where values are narrower than a word
//   WORD_RANKS  values of a word
#import io/quotient
#import io/sink

// The ranks of one sequence, the slot-th.
fn put_apart(sequence: u32, slot: u32, first: u32, end: u32, local: u32) {
  let to = target_of(sequence);
  for (var rank = first + local; rank < end; rank += WORKGROUP) { put_to(to, rank, ranked(slot, rank)); }
}

#if NARROW

// Runs of values that lie one after the other. A run begins with the ranks of a sequence, or, where
// neighbours are `down` columns, with the sequences at a rank. It has `period` of those, and then
// as many of the next sequence or rank. All sequences of a run lie along one dimension. `rank` is
// the first run's first.
struct ValueRuns { sequence: u32, slot: u32, rank: u32, down: bool, count: u32, length: u32, period: u32 }

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
    let rank$c = runs.rank + select(within$c, run + periods$c, runs.down);
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
    let start = to.offsets.y + (runs.rank + select(0u, run, runs.down)) * params.value_step;
    let skew = start % WORD_RANKS;
    let first = (w - run * words) * WORD_RANKS;
    if (first < runs.length + skew) { put_word(runs, run, to, (start - skew + first) / WORD_RANKS, first - skew, period); }
  }
}

// The ranks from `first` to before `end` of `count` sequences from one on. All invocations call it
// together.
fn put_some_ranks(sequence: u32, count: u32, first: u32, end: u32, local: u32) {
  let ranks = end - first;
  if (params.value_step == 1u) {
    // All values are one run where a sequence's follow the last one's.
    let one_run = params.batch_dims == 1u && params.batch[0].z == ranks;
    let length = select(ranks, count * ranks, one_run);
    put_runs(ValueRuns(sequence, 0u, first, false, select(count, min(count, 1u), one_run), length, ranks), local);
    return;
  }
  if (count <= 1u || params.batch[0].z != 1u) {
    for (var slot = 0u; slot < count; slot++) { put_apart(sequence + slot, slot, first, end, local); }
    return;
  }
  let columns = sequences_beside();
  for (var slot = 0u; slot < count;) {
    let beside = min(count - slot, columns - (sequence + slot) % columns);
    // All values are one run where a rank's columns follow the last one's.
    let one_run = params.value_step == beside;
    let length = select(beside, ranks * beside, one_run);
    put_runs(ValueRuns(sequence + slot, slot, first, true, select(ranks, 1u, one_run), length, beside), local);
    slot += beside;
  }
}

fn put_ranks_of_one(sequence: u32, first: u32, end: u32, local: u32) { put_some_ranks(sequence, 1u, first, end, local); }

#else

fn put_ranks_of_one(sequence: u32, first: u32, end: u32, local: u32) { put_apart(sequence, 0u, first, end, local); }

// As above. Neighbours put neighbouring ranks, or those of neighbouring columns.
fn put_some_ranks(sequence: u32, count: u32, first: u32, end: u32, local: u32) {
  let columns = sequences_beside();
  let ranks = end - first;
  let down = ranks_lie_apart();
  let apart = ranks >= WORKGROUP && !down;
  for (var slot = 0u; slot < count;) {
    let together = select(min(count - slot, columns - (sequence + slot) % columns), 1u, apart);
    let beside = select(ranks, together, down);
    let divisor = divisor_for(beside, together * ranks);
    let to = target_of(sequence + slot);
    for (var e = local; e < together * ranks; e += WORKGROUP) {
      let further = quotient(e, divisor);
      let within = e - further * beside;
      let other = select(further, within, down);
      let rank = first + select(within, further, down);
      put_to(target_beside(to, other), rank, ranked(slot + other, rank));
    }
    slot += together;
  }
}

#endif

// The first k.
fn put_ranks(sequence: u32, count: u32, local: u32) { put_some_ranks(sequence, count, 0u, params.k, local); }
