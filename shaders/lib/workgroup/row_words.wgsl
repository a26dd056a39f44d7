// Words of keys of 32 bits: what a key exceeds the least key by, above its place in PLACE_BITS.
//
// An invocation holds its part of a row in registers. K groups have a best item each, and the last
// of those bounds the first K keys, so words need no more room than that. Where it is too little,
// last bits of keys are dropped, and words alike but for places may be out of order. Words like the
// last of the K are then merged once more by the dropped bits. At the end whole keys order the
// others (benchmarks/LOG.md#what-packed-words-may-drop-2026-11-21-8584e02).
//
// `best_words` are the kernel's: K of each team.
//   LOADS   of an invocation, whose items fill BATCHES, of which the last may lack some
//   GROUPS  of an invocation's items, so that its team has K of them
//   FETCH   loads that are read again at a time; FETCH_BATCHES batches of items are in them
#import thread/row_keys
#import workgroup/word_lists
#if TEAM > 1
#import workgroup/range_in_memory
#endif

const PLACES: u32 = (1u << PLACE_BITS) - 1u;

struct Part { row: Row, lane: u32, size: u32 }

var<private> packing: Packing;
var<workgroup> bases: array<u32, TEAMS>;  // The least keys.
var<workgroup> loose: array<u32, TEAMS>;  // 0: words hold whole keys; else 1 + first words in doubt

#if TEAM > 1
fn begin_words(local: u32) {
  begin_any(local);
  begin_range(local);
  workgroupBarrier();
}
#else
fn begin_words(local: u32) {}
fn range_in_memory(local: u32, mine: vec2<u32>) -> vec2<u32> { return mine; }
#endif

// The least key, and the last of the groups' least ones.
fn range_of(keys: ptr<function, Keys>) -> vec2<u32> {
#for g in GROUPS
  var best$g = LAST_KEY;
#endfor
#for l in LOADS
#for c in PER_LOAD
  best$[(l * PER_LOAD + c) % GROUPS] = min(best$[(l * PER_LOAD + c) % GROUPS], (*keys)[$[l * PER_LOAD + c]]);
#endfor
#endfor
  var range = vec2<u32>(best0);
#for g in GROUPS
  range = vec2<u32>(min(range.x, best$g), max(range.y, best$g));
#endfor
  return range;
}

// What the row does not have is behind all its items: it has the last key, and later places. Only
// places before a row that begins inside a load are told apart.
fn merge_row(row: Row, lane: u32, local: u32, words: ptr<function, Words>) {
  var keys: Keys;
  read_keys(row, lane, &keys);
  packing = packing_up_to(range_in_memory(local, range_of(&keys)), PLACE_BITS);
#for i in BATCHES
  {
    var batch: Batch;
#for j in BATCH
#if $[LOADS * PER_LOAD] > $[i * BATCH + j]
    let place$j = $[(i * BATCH + j) // PER_LOAD * TEAM * PER_LOAD + (i * BATCH + j) % PER_LOAD]u + lane * PER_LOAD;
    batch[$j] = (packed_any(packing, keys[$[i * BATCH + j]]) & ~PLACES) | place$j;
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
fn merge_rest(part: Part, local: u32, packing: Packing, doubtful: bool, last: u32, rest: ptr<function, Words>) {
  for (var l = 0u; l < LOADS; l += FETCH) {
#for f in FETCH
    let v$f = (l + $fu) * TEAM + part.lane;
    let again$f = load(part.row, min(v$f, part.row.loads - 1u));
#for c in PER_LOAD
    let place$[f * PER_LOAD + c] = v$f * PER_LOAD + $cu;
    let bits$[f * PER_LOAD + c] = packed_any(packing, key_at(part.row, place$[f * PER_LOAD + c], again$f, $cu));
    let rest$[f * PER_LOAD + c] = select(NO_WORD, ((bits$[f * PER_LOAD + c] & PLACES) << PLACE_BITS) | place$[f * PER_LOAD + c],
        alike(bits$[f * PER_LOAD + c], last, PLACES) & is_inside(part.row, place$[f * PER_LOAD + c]));
#endfor
#endfor
#for i in FETCH_BATCHES
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

fn settle_words(row: Row, lane: u32, local: u32, words: ptr<function, Words>) {
  // What has no part in a row comes behind all its items, by its places.
  let settled = settle(Part(row, lane, TEAM), local, TEAM, packing, K < real_items(row), words);
  if (lane == 0u) {
    bases[local / TEAM] = packing.least;
    loose[local / TEAM] = select(0u, settled + 1u, packing.lost > 0u);
  }
}

fn word_listed(slot: u32, rank: u32) -> u32 { return best_words[slot * K + rank]; }

fn put_words(first: u32, local: u32) {
  let end = min(max(params.sequences, first) - first, TEAMS) * K;
  for (var e = local; e < end; e += WORKGROUP) {
    let owner = e / K;
    let row = row_of(first + owner);
    let position = (best_words[e] & PLACES) - row.skew;
    var rank = e % K;
    var pair: Pair;
    if (loose[owner] == 0u) {
      if (rank >= params.k) { continue; }
      pair = Pair(bases[owner] + (best_words[e] >> PLACE_BITS), index_at(row, position));
    } else {
      pair = pair_at(row, position);
      if (rank + 1u < loose[owner]) { rank = rank_among_alike(row, pair, owner, rank, loose[owner] - 1u, PLACES); }
    }
    if (rank < params.k) { put_to(target_of(first + owner), rank, pair); }
  }
}
