// A sorted list of KEEP words in registers. Minima and maxima merge BATCH words at a time into it.
//
// Two operations a comparison (benchmarks/LOG.md#packed-words-in-registers-2026-11-21-8584e02).
//   KEEP       words of a list
//   STEPS      of a network for 2^STEPS words, of which the first PAD are missing
//   HALF       comparisons of a step
//   BATCH      a power of two: the longer the list, the more words a merge of it should bring
//   BATCH_BITS its exponent

const NO_WORD: u32 = 0xffffffffu;  // Nothing: it comes after every word.

alias Words = array<u32, KEEP>;
alias Batch = array<u32, BATCH>;

// Sorts words that ascend and then descend.
fn sort_words(words: ptr<function, Words>) {
#for step in STEPS
#for i in HALF
#if $[(i >> (STEPS - 1 - step) << (STEPS - step)) + (i & ((1 << (STEPS - 1 - step)) - 1)) + 1] > PAD
  {
    const LOW = $[(i >> (STEPS - 1 - step) << (STEPS - step)) + (i & ((1 << (STEPS - 1 - step)) - 1))]u - PAD;
    const HIGH = LOW + $[1 << (STEPS - 1 - step)]u;
    let low = (*words)[LOW];
    let high = (*words)[HIGH];
    (*words)[LOW] = min(low, high);
    (*words)[HIGH] = max(low, high);
  }
#endif
#endfor
#endfor
}

// Sorts a batch: Batcher, "Sorting networks and their applications", 1968, by odd-even merges.
//
// Merges make runs of 2 << a. Their step b compares words 1 << a >> b apart, of one run alone: in
// the first step the first half with the second, in the others every second stretch of so many.
fn sort_batch(batch: ptr<function, Batch>) {
#for a in BATCH_BITS
#for b in BATCH_BITS
#if $[a + 1] > $b
#for i in BATCH
#if $[i + 1] > $[(1 << a >> b) % (1 << a)] && $[1 << a >> b] > $[(i - (1 << a >> b) % (1 << a)) % (2 << a >> b)] && $[(i >> a + 1) + 1] > $[i + (1 << a >> b) >> a + 1]
  {
    const HIGH = $[i + (1 << a >> b)]u;
    let low = (*batch)[$i];
    let high = (*batch)[HIGH];
    (*batch)[$i] = min(low, high);
    (*batch)[HIGH] = max(low, high);
  }
#endif
#endfor
#endif
#endfor
#endfor
}

// Merges a batch into an ascending list; the last words drop out.
fn merge(words: ptr<function, Words>, batch: ptr<function, Batch>) {
  sort_batch(batch);
#for i in BATCH
#if KEEP > $i
  (*words)[KEEP - $[i + 1]u] = min((*words)[KEEP - $[i + 1]u], (*batch)[$i]);
#endif
#endfor
  sort_words(words);
}
