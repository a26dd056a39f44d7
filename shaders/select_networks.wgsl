// The first K pairs of every short sequence, in order, for a small K: elements (binding 1) -> sink (4, 5).
//
// A team of TEAM invocations holds a sequence in registers, LOADS loads each. An item is a word: bits of its key, and its place in the
// last PLACE_BITS. Four words at a time are merged into a sorted list of KEEP = K + 1 by minima and maxima, which have no branches and
// take two operations a comparison; then the team's lists, two and two. The leading bits that all keys of the sequence share are left
// out of the words. Where more bits differ than a word has room for, words that are alike but for their places may be out of order: if
// the last of the K is such a one, those like it are merged once more, by the bits that were left out; at the end, each word is put in
// its place among those like it by whole keys.
//   LOADS    loads of an invocation; LOADS * PER_LOAD is a multiple of 4, and FOURS a quarter of it
//   WHOLE    loads before the WHOLE-th have items of the sequence alone, but for the first where SKEWED (sequences begin inside loads)
//   STEPS    of a network for 2^STEPS words, of which the first PAD are missing
#import source
#import sink

const TEAMS: u32 = WORKGROUP / TEAM;
const PLACES: u32 = (1u << PLACE_BITS) - 1u;
const NO_WORD: u32 = 0xffffffffu;  // no place is all ones

alias Words = array<u32, KEEP>;

var<workgroup> best_words: array<u32, TEAMS * K>;
var<workgroup> best_keys: array<u32, TEAMS * K>;
#if TEAM > 1
var<workgroup> exchange: array<u32, WORKGROUP * KEEP>;
var<workgroup> doubts: atomic<u32>;
var<workgroup> shared_doubts: u32;
#endif

fn alike(a: u32, b: u32) -> bool { return (a ^ b) <= PLACES; }

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

#if TEAM > 1
// The first of all the team's words, known to each of its invocations.
fn merge_team(words: ptr<function, Words>, local: u32) {
  for (var reach = 1u; reach < TEAM; reach *= 2u) {
    workgroupBarrier();
#for i in KEEP
    exchange[$iu * WORKGROUP + local] = (*words)[$i];
#endfor
    workgroupBarrier();
#for i in KEEP
    (*words)[$i] = min((*words)[$i], exchange[(KEEP - $[i + 1]u) * WORKGROUP + (local ^ reach)]);
#endfor
    sort_words(words);
  }
}
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let first = linear_workgroup(workgroup, grid) * TEAMS;
  let lane = local % TEAM;
  let row = row_of(min(first + local / TEAM, params.sequences - 1u));

#for l in LOADS
  let data$l = load(row, min($[l * TEAM]u + lane, row.loads - 1u));
#endfor
#for l in LOADS
#for c in PER_LOAD
  let key$[l * PER_LOAD + c] = key_in(data$l, $cu);
#endfor
#endfor
  // Keys differ in these bits at most.
  var differing = 0u;
#for i in FOURS
  differing |= key0 ^ key$[4 * i];
  differing |= key0 ^ key$[4 * i + 1];
  differing |= key0 ^ key$[4 * i + 2];
  differing |= key0 ^ key$[4 * i + 3];
#endfor
#if TEAM > 1
  let home = local - lane;
  if (local == 0u) { atomicStore(&doubts, 0u); }
  exchange[local] = differing;
  exchange[WORKGROUP + local] = key0;
  workgroupBarrier();
  for (var other = home; other < home + TEAM; other++) {
    differing |= exchange[other] | (exchange[WORKGROUP + other] ^ exchange[WORKGROUP + home]);
  }
#endif
  // Leading zeros are shifted out; a product, as other units than those of minima and maxima find it.
  let scale = select(0u, 1u << (countLeadingZeros(differing) & 31u), differing != 0u);
  let complete = ((differing * scale) & PLACES) == 0u;

  var words: Words;
#for i in KEEP
  words[$i] = NO_WORD;
#endfor
#for l in LOADS
#for c in PER_LOAD
#if WHOLE > $l && $[l + 1] > SKEWED
  let word$[l * PER_LOAD + c] = ((key$[l * PER_LOAD + c] * scale) & ~PLACES) | ($[l * TEAM * PER_LOAD + c]u + lane * PER_LOAD);
#else
  let place$[l * PER_LOAD + c] = $[l * TEAM * PER_LOAD + c]u + lane * PER_LOAD;
  let word$[l * PER_LOAD + c] = select(NO_WORD, ((key$[l * PER_LOAD + c] * scale) & ~PLACES) | place$[l * PER_LOAD + c],
                                       place$[l * PER_LOAD + c] - row.skew < params.length);
#endif
#endfor
#endfor
#for i in FOURS
  merge(&words, word$[4 * i], word$[4 * i + 1], word$[4 * i + 2], word$[4 * i + 3]);
#endfor
#if TEAM > 1
  merge_team(&words, local);
#endif

  // Are there more words like the last of the K than those that are kept? Then the bits that were left out tell which to keep.
  let last = words[K - 1u];
  let doubtful = !complete && alike(last, words[K]);
#if TEAM > 1
  if (doubtful) { atomicStore(&doubts, 1u); }
  workgroupBarrier();
  if (local == 0u) { shared_doubts = atomicLoad(&doubts); }
  if (workgroupUniformLoad(&shared_doubts) != 0u) {
#else
  if (doubtful) {
#endif
    var settled = 0u;
#for i in K
    settled += select(1u, 0u, alike(last, words[$i]));
#endfor
    // Zeros hold the places of the words before, in one list of the team's.
    var rest: Words;
#for i in KEEP
    rest[$i] = select(NO_WORD, 0u, lane == 0u && $iu < settled);
#endfor
    for (var l = 0u; l < LOADS; l += FETCH) {
#for f in FETCH
      let v$f = (l + $fu) * TEAM + lane;
      let again$f = load(row, min(v$f, row.loads - 1u));
#for c in PER_LOAD
      let place$[f * PER_LOAD + c] = v$f * PER_LOAD + $cu;
      let bits$[f * PER_LOAD + c] = key_in(again$f, $cu) * scale;
      let rest$[f * PER_LOAD + c] = select(NO_WORD, ((bits$[f * PER_LOAD + c] & PLACES) << PLACE_BITS) | place$[f * PER_LOAD + c],
          alike(bits$[f * PER_LOAD + c], last) && place$[f * PER_LOAD + c] - row.skew < params.length);
#endfor
#endfor
#for i in AGAIN
      merge(&rest, rest$[4 * i], rest$[4 * i + 1], rest$[4 * i + 2], rest$[4 * i + 3]);
#endfor
    }
#if TEAM > 1
    merge_team(&rest, local);
#endif
#for i in K
    if (doubtful && $iu >= settled) { words[$i] = rest[$i]; }
#endfor
  }

  // All results of the workgroup, side by side. Words that need no second look are told apart by their ranks.
  if (lane == 0u) {
#for i in K
    best_words[local / TEAM * K + $iu] = select(words[$i], ($[i]u << PLACE_BITS) | (words[$i] & PLACES), complete);
#endfor
  }
  workgroupBarrier();
  let end = min(max(params.sequences, first) - first, TEAMS) * K;
  for (var e = local; e < end; e += WORKGROUP) {
    let owner = row_of(first + e / K);
    best_keys[e] = pair_at(owner, (best_words[e] & PLACES) - owner.skew).key;
  }
  workgroupBarrier();
  for (var e = local; e < end; e += WORKGROUP) {
    let word = best_words[e];
    let key = best_keys[e];
    let begin = e / K * K;
    var rank = e - begin;
    for (var other = e; other > begin && alike(best_words[other - 1u], word); other--) {
      if (before(Pair(key, word), Pair(best_keys[other - 1u], best_words[other - 1u]))) { rank--; }
    }
    for (var other = e + 1u; other < begin + K && alike(best_words[other], word); other++) {
      if (before(Pair(best_keys[other], best_words[other]), Pair(key, word))) { rank++; }
    }
    let position = (word & PLACES) - row_of(first + e / K).skew;
    put_to(target_of(first + e / K), rank, Pair(key, index_at(position)));
  }
}
