// A sorted list of KEEP words in registers. Minima and maxima merge four words at a time into it.
//
// Two operations a comparison (benchmarks/LOG.md#packed-words-in-registers-2026-11-21-8584e02).
//   KEEP       words of a list
//   STEPS      of a network for 2^STEPS words, of which the first PAD are missing
//   HALF       comparisons of a step

const NO_WORD: u32 = 0xffffffffu;  // Nothing: it comes after every word.

alias Words = array<u32, KEEP>;

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

// Merges four words into an ascending list; the last ones drop out.
fn merge(words: ptr<function, Words>, a: u32, b: u32, c: u32, d: u32) {
  let low = vec2<u32>(min(a, b), min(c, d));
  let high = vec2<u32>(max(a, b), max(c, d));
  let second = max(low.x, low.y);
  let third = min(high.x, high.y);
  let four = array<u32, 4>(min(low.x, low.y), min(second, third), max(second, third), max(high.x, high.y));
#for i in 4
#if KEEP > $i
  (*words)[KEEP - $[i + 1]u] = min((*words)[KEEP - $[i + 1]u], four[$i]);
#endif
#endfor
  sort_words(words);
}
