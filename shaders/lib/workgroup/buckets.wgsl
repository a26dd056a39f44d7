// Buckets of pairs by the first bits that differ. Where one has over CROWDED pairs, each bucket is
// split into as many parts as it has pairs, so that neither outliers nor exponents matter
// (Neubert, "The Flashsort1 algorithm", Dr. Dobb's Journal, 1998).
//   CARRIED  pairs of an invocation, which stay in its registers
//   SPLITS   0 where crowded buckets are not split: lists too short to pay for the registers
#import workgroup/bins
#import workgroup/merge_list

const CROWDED: u32 = 16u;
const FRACTION: u32 = 16u * SPLITS;  // bits of a place within a bucket
const WIDTH: u32 = (CARRIED + 3u) / 4u;  // pairs that a part has on average: 4 parts an invocation

alias Carried = array<Held, CARRIED>;
alias Numbers = array<u32, CARRIED>;

var<workgroup> spread: array<atomic<u32>, 3>;  // the bits of each word that differ
var<workgroup> spread_words: vec3<u32>;
var<workgroup> fullest: atomic<u32>;
var<workgroup> shared_fullest: u32;

// Words in the order of pairs up to `last`. The first is a distance to the last key: leading bits
// may mislead, as half of the numbers from 1 to 3 differ from the others in their whole exponent.
fn distances_of(pair: Pair, last: Pair) -> vec3<u32> {
  return words_of(pair) - vec3<u32>(words_of(last).x + 1u, 0u, 0u);
}

// Runs of bits that differ, the first two: the word of each, its lowest bit, and its size. They
// have a digit's bits together, and FRACTION more. The others are left away: of few values, one is
// the key's and one the index's.
struct Runs { words: vec2<u32>, shifts: vec2<u32>, sizes: vec2<u32>, room: u32 }

fn runs_of(differing: vec3<u32>) -> Runs {
  var rest = differing;
  var runs = Runs(vec2<u32>(), vec2<u32>(), vec2<u32>(), KTH_DIGIT + FRACTION);
#for r in 2
  {
    let word = select(select(2u, 1u, rest.y != 0u), 0u, rest.x != 0u);
    let bits = word_of(rest, word);
    let high = 32u - countLeadingZeros(bits);
    let low = 32u - countLeadingZeros(~bits & ones(high));
    let size = min(runs.room, high - low);
    runs.words[$r] = word;
    runs.shifts[$r] = high - size;
    runs.sizes[$r] = size;
    runs.room -= size;
    rest &= select(vec3<u32>(0xffffffffu), vec3<u32>(ones(high - size)), vec3<u32>(0u, 1u, 2u) == vec3<u32>(word));
  }
#endfor
  return runs;
}

// The bits of some runs, side by side.
fn code_of(words: vec3<u32>, runs: Runs) -> u32 {
  var code = 0u;
#for r in 2
  code = (code << runs.sizes[$r]) | ((word_of(words, runs.words[$r]) >> runs.shifts[$r]) & ones(runs.sizes[$r]));
#endfor
  return code << runs.room;
}

// Where a bucket begins, or the list ends.
fn bucket_begin(bucket: u32, length: u32) -> u32 {
  if (bucket == KTH_BINS) { return length; }
  return atomicLoad(&kth_bins[bucket]);
}

// Counts of buckets become their beginnings. Returns the most pairs of any that is crowded, or 0.
fn begin_buckets(local: u32) -> u32 {
  var count = 0u;
  var most = 0u;
  for (var b = 0u; b < KTH_EACH; b++) {
    let own = atomicLoad(&kth_bins[local * KTH_EACH + b]);
    count += own;
    most = max(most, own);
  }
  if (most > CROWDED) { atomicMax(&fullest, most); }
  var begin = inclusive_sum(local, count) - count;
  for (var b = local * KTH_EACH; b < (local + 1u) * KTH_EACH; b++) {
    let own = atomicLoad(&kth_bins[b]);
    atomicStore(&kth_bins[b], begin);
    begin += own;
  }
  if (local == 0u) { shared_fullest = atomicAnd(&fullest, 0u); }
  return workgroupUniformLoad(&shared_fullest);
}

fn is_carried(held: Held) -> bool { return pair_held(held).index != NO_INDEX; }

// The bits of each word that differ for any invocation. All call it together.
fn differing_words(local: u32, mine: vec3<u32>) -> vec3<u32> {
  if (local < 3u) { atomicStore(&spread[local], 0u); }
  workgroupBarrier();
#for w in 3
  if (mine[$w] != 0u) { atomicOr(&spread[$w], mine[$w]); }
#endfor
  workgroupBarrier();
  if (local == 0u) {
    spread_words = vec3<u32>(atomicLoad(&spread[0]), atomicLoad(&spread[1]), atomicLoad(&spread[2]));
  }
  return workgroupUniformLoad(&spread_words);
}

// The bits that differ, of the distances of all pairs carried. `any_pair` is one of them.
fn differing_of(local: u32, carried: ptr<function, Carried>, any_pair: Pair, last: Pair) -> vec3<u32> {
  let first = distances_of(any_pair, last);
  var mine = vec3<u32>();
#for c in CARRIED
  if (is_carried((*carried)[$c])) { mine |= distances_of(pair_held((*carried)[$c]), last) ^ first; }
#endfor
  if (local == 0u) { atomicStore(&fullest, 0u); }
  return differing_words(local, mine);
}

// Codes become bounds: where the pair's bucket begins and, in the high half, where it ends.
fn bound_by_buckets(length: u32, carried: ptr<function, Carried>, codes: ptr<function, Numbers>) {
#for c in CARRIED
  if (is_carried((*carried)[$c])) {
    let bucket = (*codes)[$c] >> FRACTION;
    (*codes)[$c] = bucket_begin(bucket, length) | (bucket_begin(bucket + 1u, length) << 16u);
  }
#endfor
}

#if SPLITS

fn half_of(word: u32, part: u32) -> u32 { return (word >> (16u * (part & 1u))) & 0xffffu; }

// Where a part begins, or the list ends. The counts of two parts share a word of `scan_words`.
fn part_begin(part: u32, length: u32) -> u32 {
  if (part == 4u * WORKGROUP) { return length; }
  return half_of(atomicLoad(&scan_words[part >> 1u]), part);
}

// Counts of parts become their beginnings. Returns the most pairs of any.
fn begin_parts(local: u32) -> u32 {
  let low = atomicLoad(&scan_words[2u * local]);
  let high = atomicLoad(&scan_words[2u * local + 1u]);
  let sizes = vec4<u32>(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u);
  let count = sizes.x + sizes.y + sizes.z + sizes.w;
  atomicMax(&fullest, max(max(sizes.x, sizes.y), max(sizes.z, sizes.w)));
  workgroupBarrier();
  let begin = inclusive_sum(local, count) - count;
  workgroupBarrier();
  let second = begin + sizes.x;
  let third = second + sizes.y;
  atomicStore(&scan_words[2u * local], begin | (second << 16u));
  atomicStore(&scan_words[2u * local + 1u], third | ((third + sizes.z) << 16u));
  if (local == 0u) { shared_fullest = atomicLoad(&fullest); }
  return workgroupUniformLoad(&shared_fullest);
}

// Codes become bounds of parts, and places those within a part. Returns the most pairs of a part.
fn split_buckets(local: u32, length: u32, carried: ptr<function, Carried>,
                 codes: ptr<function, Numbers>, places: ptr<function, Numbers>) -> u32 {
  atomicStore(&scan_words[local], 0u);
  atomicStore(&scan_words[WORKGROUP + local], 0u);
  workgroupBarrier();
#for c in CARRIED
  if (is_carried((*carried)[$c])) {
    let bucket = (*codes)[$c] >> FRACTION;
    let begin = bucket_begin(bucket, length);
    let size = bucket_begin(bucket + 1u, length) - begin;
    let part = (begin + ((((*codes)[$c] & ones(FRACTION)) * size) >> FRACTION)) / WIDTH;
    (*places)[$c] = half_of(atomicAdd(&scan_words[part >> 1u], 1u << (16u * (part & 1u))), part);
    (*codes)[$c] = part;
  }
#endfor
  workgroupBarrier();
  let most = begin_parts(local);
#for c in CARRIED
  if (is_carried((*carried)[$c])) {
    (*codes)[$c] = part_begin((*codes)[$c], length) | (part_begin((*codes)[$c] + 1u, length) << 16u);
  }
#endfor
  return most;
}

#endif
