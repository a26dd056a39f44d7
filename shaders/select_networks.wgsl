// The first K pairs of every short sequence, in order, for a small K: elements (binding 1) -> sink (4, 5).
//
// A team of TEAM invocations holds a sequence in registers, LOADS loads each. An item is a word: what its key exceeds the least key by,
// and its place in the last PLACE_BITS. Four words at a time are merged into a sorted list of KEEP = K + 1 by minima and maxima, which
// have no branches and take two operations a comparison; then the team's lists, two and two. Of K groups of items or more each has a
// best one; the first K keys do not come after the last of those, so words need room for no more than that. Where there is not room
// enough, the last bits of the keys are left out, and words that are alike but for their places may be out of order: if the last of the
// K is such a one, those like it are merged once more, by the bits that were left out; at the end, whole keys put the others in order.
//   LOADS    of an invocation (lib/held.wgsl); LOADS * PER_LOAD is a multiple of 4, and FOURS a quarter of it
//   GROUPS   of an invocation's items, so that the team has K of them
//   STEPS    of a network for 2^STEPS words, of which the first PAD are missing
#import source
#import sink

const TEAMS: u32 = WORKGROUP / TEAM;
const PLACES: u32 = (1u << PLACE_BITS) - 1u;
const UNUSED: u32 = 32u - 8u * ELEMENT_BYTES;  // last bits of a key, always zero
const NO_WORD: u32 = 0xffffffffu;  // no place is all ones

alias Words = array<u32, KEEP>;

var<workgroup> best_words: array<u32, TEAMS * K>;
var<workgroup> bases: array<u32, TEAMS>;  // the least keys
var<workgroup> loose: array<u32, TEAMS>;  // 0 where words hold whole keys, else one more than the first words that may be out of order
#if TEAM > 1
var<workgroup> least_keys: array<atomic<u32>, TEAMS>;
var<workgroup> bound_keys: array<atomic<u32>, TEAMS>;
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
  let slot = local / TEAM;
  let lane = local % TEAM;
  let row = row_of(min(first + slot, params.sequences - 1u));
#if TEAM > 1
  if (local == 0u) { atomicStore(&doubts, 0u); }
  if (lane == 0u) {
    atomicStore(&least_keys[slot], LAST_KEY);
    atomicStore(&bound_keys[slot], 0u);
  }
  workgroupBarrier();
#endif

#import held
#for g in GROUPS
  var best$g = LAST_KEY >> UNUSED;
#endfor
#for l in LOADS
#for c in PER_LOAD
#if WHOLE > $l && $[l + 1] > SKEWED
  let key$[l * PER_LOAD + c] = key_in(data$l, $cu) >> UNUSED;
#else
  let inside$[l * PER_LOAD + c] = $[l * TEAM * PER_LOAD + c]u + lane * PER_LOAD - row.skew < params.length;
  let key$[l * PER_LOAD + c] = select(LAST_KEY, key_in(data$l, $cu), inside$[l * PER_LOAD + c]) >> UNUSED;
#endif
  best$[(l * PER_LOAD + c) % GROUPS] = min(best$[(l * PER_LOAD + c) % GROUPS], key$[l * PER_LOAD + c]);
#endfor
#endfor
  var least = best0;
  var bound = best0;
#for g in GROUPS
  least = min(least, best$g);
  bound = max(bound, best$g);
#endfor
#if TEAM > 1
  atomicMin(&least_keys[slot], least);
  atomicMax(&bound_keys[slot], bound);
  workgroupBarrier();
  least = atomicLoad(&least_keys[slot]);
  bound = atomicLoad(&bound_keys[slot]);
#endif
  // One key for all that come after the bound, and the bits that are left out.
  let beyond = max(bound, bound + 1u);
  let zeros = countLeadingZeros(beyond - least);
  let lost = max(zeros, PLACE_BITS) - zeros;
  let scale = 1u << (PLACE_BITS - lost);
  let offset = 0u - least * scale;

  var words: Words;
#for i in KEEP
  words[$i] = NO_WORD;
#endfor
#for i in FOURS
  {
#for j in 4
    let place$j = $[(4 * i + j) // PER_LOAD * TEAM * PER_LOAD + (4 * i + j) % PER_LOAD]u + lane * PER_LOAD;
#if WHOLE > $[(4 * i + j) // PER_LOAD] && $[(4 * i + j) // PER_LOAD + 1] > SKEWED
    let word$j = ((min(key$[4 * i + j], beyond) * scale + offset) & ~PLACES) | place$j;
#else
    let word$j = select(NO_WORD, ((min(key$[4 * i + j], beyond) * scale + offset) & ~PLACES) | place$j, inside$[4 * i + j]);
#endif
#endfor
    merge(&words, word0, word1, word2, word3);
  }
#endfor
#if TEAM > 1
  merge_team(&words, local);
#endif

  // Are there more words like the last of the K than those that are kept? Then the bits that were left out tell which to keep.
  let last = words[K - 1u];
  let doubtful = lost > 0u && alike(last, words[K]);
  var settled = K;
#if TEAM > 1
  if (doubtful) { atomicStore(&doubts, 1u); }
  workgroupBarrier();
  if (local == 0u) { shared_doubts = atomicLoad(&doubts); }
  if (workgroupUniformLoad(&shared_doubts) != 0u) {
#else
  if (doubtful) {
#endif
#for i in K
    settled -= select(0u, 1u, doubtful && alike(last, words[$i]));
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
      let bits$[f * PER_LOAD + c] = min(key_in(again$f, $cu) >> UNUSED, beyond) * scale + offset;
      let rest$[f * PER_LOAD + c] = select(NO_WORD, ((bits$[f * PER_LOAD + c] & PLACES) << PLACE_BITS) | place$[f * PER_LOAD + c],
          alike(bits$[f * PER_LOAD + c], last) && place$[f * PER_LOAD + c] - row.skew < params.length);
#endfor
#endfor
#for i in AGAIN
      if (min(min(rest$[4 * i], rest$[4 * i + 1]), min(rest$[4 * i + 2], rest$[4 * i + 3])) < rest[K - 1u]) {
        merge(&rest, rest$[4 * i], rest$[4 * i + 1], rest$[4 * i + 2], rest$[4 * i + 3]);
      }
#endfor
    }
#if TEAM > 1
    merge_team(&rest, local);
#endif
#for i in K
    if ($iu >= settled) { words[$i] = rest[$i]; }
#endfor
  }

  // All results of the workgroup, side by side.
  if (lane == 0u) {
    bases[slot] = least;
    loose[slot] = select(0u, settled + 1u, lost > 0u);
#for i in K
    best_words[slot * K + $iu] = words[$i];
#endfor
  }
  workgroupBarrier();
  let end = min(max(params.sequences, first) - first, TEAMS) * K;
  for (var e = local; e < end; e += WORKGROUP) {
    let owner = e / K;
    let begin = owner * K;
    let from_row = row_of(first + owner);
    let word = best_words[e];
    var rank = e - begin;
    var pair: Pair;
    if (loose[owner] == 0u) {
      pair = Pair((bases[owner] + (word >> PLACE_BITS)) << UNUSED, index_at((word & PLACES) - from_row.skew));
    } else {
      pair = pair_at(from_row, (word & PLACES) - from_row.skew);
      let stop = begin + loose[owner] - 1u;
      if (e < stop) {
        for (var other = e; other > begin && alike(best_words[other - 1u], word); other--) {
          if (before(pair, pair_at(from_row, (best_words[other - 1u] & PLACES) - from_row.skew))) { rank--; }
        }
        for (var other = e + 1u; other < stop && alike(best_words[other], word); other++) {
          if (before(pair_at(from_row, (best_words[other] & PLACES) - from_row.skew), pair)) { rank++; }
        }
      }
    }
    put_to(target_of(first + owner), rank, pair);
  }
}
