// The first k pairs of every short row, in order, for a small k: input -> sink. One read.
//
// A team of TEAM invocations holds a row in registers. An item is a word: what its key exceeds the
// least key by, above its place in PLACE_BITS. Each invocation merges words into a list of KEEP =
// K + 1; then the team's lists are merged. K groups have a best item each, and the last of those
// bounds the first K keys, so words need no more room than that. Where it is too little, last bits
// of keys are dropped, and words alike but for places may be out of order. Words like the last of
// the K are then merged once more by the dropped bits. At the end whole keys order the others. The
// work is the same for all data (benchmarks/LOG.md#what-packed-words-may-drop-2026-11-21-8584e02).
//   K       one of a few numbers from params.k on
//   LOADS   of an invocation, whose items fill BATCHES, of which the last may lack some
//   FETCH   loads that are read again at a time; BATCHES_AGAIN batches of items are in them
#import io/pair_at
#import thread/row_keys
#import thread/key_range
#import io/sink
#if NARROW
#import io/put_ranks
#endif
#import thread/packed_words
#import workgroup/word_lists
#import workgroup/teams

var<workgroup> best_words: array<u32, TEAMS * K>;
var<workgroup> bases: array<u32, TEAMS>;  // The least keys.
var<workgroup> loose: array<u32, TEAMS>;  // 0: words hold whole keys; else 1 + first words in doubt

// What the row does not have is behind all its items: it has the last key, and later places. Only
// places before a row that begins inside a load are told apart.
fn merge_keys(row: Row, lane: u32, keys: ptr<function, Keys>, packing: Packing, words: ptr<function, Words>) {
#for i in BATCHES
  {
    var batch: Batch;
#for j in BATCH
#if $[LOADS * PER_LOAD] > $[i * BATCH + j]
    let place$j = $[(i * BATCH + j) // PER_LOAD * TEAM * PER_LOAD + (i * BATCH + j) % PER_LOAD]u + lane * PER_LOAD;
    batch[$j] = (packed(packing, (*keys)[$[i * BATCH + j]]) & ~PLACES) | place$j;
#if SKEWED && PER_LOAD > $[i * BATCH + j]
    batch[$j] = select(NO_WORD, batch[$j], place$j >= row.skew);
#endif
#else
    batch[$j] = NO_WORD;
#endif
#endfor
    merge(words, &batch);
  }
#endfor
}

// Merges the words like `last` but for their places, by the bits that were dropped.
fn merge_rest(row: Row, lane: u32, packing: Packing, last: u32, rest: ptr<function, Words>) {
  for (var l = 0u; l < LOADS; l += FETCH) {
#for f in FETCH
    let v$f = (l + $fu) * TEAM + lane;
    let again$f = load(row, min(v$f, row.loads - 1u));
#for c in PER_LOAD
    let place$[f * PER_LOAD + c] = v$f * PER_LOAD + $cu;
    let bits$[f * PER_LOAD + c] = packed(packing, key_at(row, place$[f * PER_LOAD + c], again$f, $cu) >> UNUSED);
    let rest$[f * PER_LOAD + c] = select(NO_WORD, ((bits$[f * PER_LOAD + c] & PLACES) << PLACE_BITS) | place$[f * PER_LOAD + c],
        alike(bits$[f * PER_LOAD + c], last) & is_inside(row, place$[f * PER_LOAD + c]));
#endfor
#endfor
#for i in BATCHES_AGAIN
    {
      var batch: Batch;
      var least = NO_WORD;
#for j in BATCH
      batch[$j] = rest$[i * BATCH + j];
      least = min(least, batch[$j]);
#endfor
      if (least < (*rest)[K - 1u]) { merge(rest, &batch); }
    }
#endfor
  }
}

// Words like the last of the K may be more than are kept: the dropped bits then tell which to keep.
// Returns how many words are before those.
fn settle(row: Row, lane: u32, local: u32, packing: Packing, words: ptr<function, Words>) -> u32 {
  let last = (*words)[K - 1u];
  // What has no part in a row comes behind all its items, by its places.
  let doubtful = packing.lost > 0u && alike(last, (*words)[K]) && K < real_items(row);
  var settled = K;
  if (any_of_all(local, doubtful)) {
#for i in K
    settled -= select(0u, 1u, doubtful & alike(last, (*words)[$i]));
#endfor
    // Zeros hold the places of the words before, in one list of the team's.
    var rest: Words;
#for i in KEEP
    rest[$i] = select(NO_WORD, 0u, (lane == 0u) & ($iu < settled));
#endfor
    merge_rest(row, lane, packing, last, &rest);
    merge_team(&rest, local);
#for i in K
    if ($iu >= settled) { (*words)[$i] = rest[$i]; }
#endfor
  }
  return settled;
}

// The rank of a pair whose word is at `e`, among words from `begin` to before `stop` alike in keys.
fn rank_among_alike(row: Row, pair: Pair, e: u32, begin: u32, stop: u32) -> u32 {
  let word = best_words[e];
  var rank = e - begin;
  for (var other = e; other > begin && alike(best_words[other - 1u], word); other--) {
    if (before(pair, pair_at(row, (best_words[other - 1u] & PLACES) - row.skew))) { rank--; }
  }
  for (var other = e + 1u; other < stop && alike(best_words[other], word); other++) {
    if (before(pair_at(row, (best_words[other] & PLACES) - row.skew), pair)) { rank++; }
  }
  return rank;
}

#if NARROW

var<private> first_sequence: u32;  // of the workgroup

// Words hold whole keys of narrow types.
fn ranked(slot: u32, rank: u32) -> Pair {
  let word = best_words[slot * K + rank];
  let row = row_of(first_sequence + slot);
  return Pair((bases[slot] + (word >> PLACE_BITS)) << UNUSED, index_at(row, (word & PLACES) - row.skew));
}

// All results of the workgroup, side by side.
fn put_words(first: u32, local: u32) {
  first_sequence = first;
  put_ranks(first, min(max(params.sequences, first) - first, TEAMS), local);
}

#else

fn put_words(first: u32, local: u32) {
  let end = min(max(params.sequences, first) - first, TEAMS) * K;
  for (var e = local; e < end; e += WORKGROUP) {
    let owner = e / K;
    let begin = owner * K;
    let row = row_of(first + owner);
    let place = (best_words[e] & PLACES) - row.skew;
    var rank = e - begin;
    var pair: Pair;
    if (loose[owner] == 0u) {
      if (rank >= params.k) { continue; }
      pair = Pair((bases[owner] + (best_words[e] >> PLACE_BITS)) << UNUSED, index_at(row, place));
    } else {
      pair = pair_at(row, place);
      let stop = begin + loose[owner] - 1u;
      if (e < stop) { rank = rank_among_alike(row, pair, e, begin, stop); }
    }
    if (rank < params.k) { put_to(target_of(first + owner), rank, pair); }
  }
}

#endif

fn run(workgroup: u32, local: u32) {
  let first = workgroup * TEAMS;
  let slot = local / TEAM;
  let lane = local % TEAM;
  let row = row_of(min(first + slot, params.sequences - 1u));
  begin_teams(local);
  var keys: Keys;
  read_keys(row, lane, &keys);
  use_bits(&keys);
  let packing = packing_of(range_in_memory(local, range_of(&keys)));
  var words: Words;
#for i in KEEP
  words[$i] = NO_WORD;
#endfor
  merge_keys(row, lane, &keys, packing, &words);
  merge_team(&words, local);
  let settled = settle(row, lane, local, packing, &words);
  if (lane == 0u) {
    bases[slot] = packing.least;
    loose[slot] = select(0u, settled + 1u, packing.lost > 0u);
#for i in K
    best_words[slot * K + $iu] = words[$i];
#endfor
  }
  workgroupBarrier();
  put_words(first, local);
}
