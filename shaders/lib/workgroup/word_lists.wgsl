// What teams do together with their lists of words that may lack last bits of keys.
//
// The kernel's struct `Part` is what an invocation has to read: a `row`, its `lane` in the team,
// and the team's `size`, a power of two.
//   TEAM  invocations of the largest team
#import io/pair_at
#import thread/packed_words
#import workgroup/merge_words

#if TEAM > 1
#import workgroup/any
#else

fn begin_any(local: u32) {}
fn any_of_all(local: u32, mine: bool) -> bool { return mine; }
#endif

// Words like the last of the K may be more than are kept: the dropped bits then tell which to keep,
// as the kernel's `merge_rest` merges those of a team that doubts. Returns how many words are
// before those.
fn settle(part: Part, local: u32, largest: u32, packing: Packing, doubts: bool, words: ptr<function, Words>) -> u32 {
  let last = (*words)[K - 1u];
  let doubtful = doubts && packing.lost > 0u && alike(last, (*words)[K], packing.places);
  var settled = K;
  if (any_of_all(local, doubtful)) {
#for i in K
    settled -= select(0u, 1u, doubtful & alike(last, (*words)[$i], packing.places));
#endfor
    // Zeros hold the places of the words before, in one list of the team's.
    var rest: Words;
#for i in KEEP
    rest[$i] = select(NO_WORD, 0u, (part.lane == 0u) & ($iu < settled));
#endfor
    merge_rest(part, local, packing, doubtful, last, &rest);
    merge_team(&rest, local, part.size, largest);
#for i in K
    if ($iu >= settled) { (*words)[$i] = rest[$i]; }
#endfor
  }
  return settled;
}

// The rank of a pair by its word, the at-th of a list, among those before `stop` that are alike.
// The kernel's `word_listed(list, at)` is such a word.
fn rank_among_alike(row: Row, pair: Pair, list: u32, at: u32, stop: u32, places: u32) -> u32 {
  let word = word_listed(list, at);
  var rank = at;
  for (var other = at; other > 0u && alike(word_listed(list, other - 1u), word, places); other--) {
    if (before(pair, pair_at(row, (word_listed(list, other - 1u) & places) - row.skew))) { rank--; }
  }
  for (var other = at + 1u; other < stop && alike(word_listed(list, other), word, places); other++) {
    if (before(pair_at(row, (word_listed(list, other) & places) - row.skew), pair)) { rank++; }
  }
  return rank;
}
