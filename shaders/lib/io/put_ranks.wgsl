// The first k pairs of sequences that a workgroup has in order -> sink, side by side.
//
// The kernel's `ranked(slot, rank)` is the pair at a rank of the slot-th of its sequences. Values
// narrower than a word share words: one invocation writes all of a word, and only the first and the
// last word of a run of values, which others share, take an atomic operation.
//   NARROW      1 where values are narrower than a word
//   WORD_RANKS  values of a word
#import io/sink

fn put_one_by_one(sequence: u32, count: u32, local: u32) {
  for (var slot = 0u; slot < count; slot++) {
    let to = target_of(sequence + slot);
    for (var rank = local; rank < params.k; rank += WORKGROUP) { put_to(to, rank, ranked(slot, rank)); }
  }
}

#if NARROW

// The values of one word: those of a run's elements from `first` on, which the run may not have.
fn put_word(sequence: u32, slot: u32, start: u32, first: u32, length: u32) {
  var mask = 0u;
  var word = 0u;
#for c in WORD_RANKS
  let at$c = first + $cu;  // wraps before the run
  if (at$c < length) {
    let further$c = at$c / params.k;
    let rank$c = at$c - further$c * params.k;
    let to$c = target_of(sequence + further$c);
    let result$c = result_of(to$c, rank$c, ranked(slot + further$c, rank$c));
    mask |= bits_for_word($cu, 0xffffffffu);
    word |= bits_for_word($cu, result$c.bits);
    put_index(to$c.offsets.z + rank$c * params.index_step, result$c.index);
  }
#endfor
  let place = (start + first) / WORD_RANKS;
  if (mask == 0xffffffffu) { atomicStore(&values[place], word); } else { put_bits(place, mask, word); }
}

// All invocations call it together, for `count` sequences from one on.
fn put_ranks(sequence: u32, count: u32, local: u32) {
  if (params.value_step != 1u) {
    put_one_by_one(sequence, count, local);
    return;
  }
  // All values are one run where a sequence's follow the last one's.
  let one_run = params.batch_dims == 1u && params.batch[0].z == params.k;
  let runs = select(count, min(count, 1u), one_run);
  let length = select(params.k, count * params.k, one_run);
  for (var run = 0u; run < runs; run++) {
    let start = target_of(sequence + run).offsets.y;
    let skew = start % WORD_RANKS;
    for (var unit = local; unit * WORD_RANKS < length + skew; unit += WORKGROUP) {
      put_word(sequence + run, run, start, unit * WORD_RANKS - skew, length);
    }
  }
}

#else

fn put_ranks(sequence: u32, count: u32, local: u32) { put_one_by_one(sequence, count, local); }

#endif
