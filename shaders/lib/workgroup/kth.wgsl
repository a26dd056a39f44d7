// The k-th of the pairs that a workgroup holds in registers, EACH an invocation, at most 32.
// It counts digits, most significant first. A digit begins with a bit that differs anywhere.
//   KTH_DIGIT  bits of a digit; there are no fewer values of it than invocations
#import order/pair

const KTH_BINS: u32 = 1u << KTH_DIGIT;
const KTH_EACH: u32 = KTH_BINS / WORKGROUP;  // neighbouring bins that are an invocation's own

alias Items = array<Pair, EACH>;

var<workgroup> kth_bins: array<atomic<u32>, KTH_BINS>;
var<workgroup> kth_sums: array<u32, 2u * WORKGROUP>;
var<workgroup> kth_spread: array<atomic<u32>, 3>;    // the bits of each word that differ
var<workgroup> kth_words: vec3<u32>;
var<workgroup> kth_found: vec3<u32>;                 // digit, pairs below its bin, pairs in it

fn words_of(pair: Pair) -> vec3<u32> {
#if KEY_WORDS == 1
  return vec3<u32>(pair.key, pair.index, 0u);
#else
  return vec3<u32>(pair.key, pair.index);
#endif
}

fn word_of(words: vec3<u32>, word: u32) -> u32 {
#if KEY_WORDS == 1
  return select(words.x, words.y, word == 1u);
#else
  return select(select(words.x, words.y, word == 1u), words.z, word == 2u);
#endif
}

fn ones(count: u32) -> u32 { return select(0u, 0xffffffffu >> (32u - count), count > 0u); }

// Sums over the invocations up to this one. Latency bounds it: few steps, four sums at a time.
fn kth_scan(local: u32, mine: u32) -> u32 {
  var sum = mine;
  var page = 0u;
  for (var reach = 1u; reach < WORKGROUP; reach *= 4u) {
    kth_sums[page + local] = sum;
    workgroupBarrier();
#for j in 3
    if (local >= $[j + 1]u * reach) { sum += kth_sums[page + local - $[j + 1]u * reach]; }
#endfor
    page = WORKGROUP - page;
  }
  return sum;
}

// The bits of each word that differ for any invocation. All call it together.
fn kth_differing(local: u32, mine: vec3<u32>) -> vec3<u32> {
  if (local < 3u) { atomicStore(&kth_spread[local], 0u); }
  workgroupBarrier();
#for w in 3
  if (mine[$w] != 0u) { atomicOr(&kth_spread[$w], mine[$w]); }
#endfor
  workgroupBarrier();
  if (local == 0u) {
    kth_words = vec3<u32>(atomicLoad(&kth_spread[0]), atomicLoad(&kth_spread[1]), atomicLoad(&kth_spread[2]));
  }
  return workgroupUniformLoad(&kth_words);
}

// Empties an invocation's own bins: workgroup memory is not zeroed (docs/driver-bugs.md).
fn kth_clear(local: u32) {
  for (var b = 0u; b < KTH_EACH; b++) { atomicStore(&kth_bins[local * KTH_EACH + b], 0u); }
}

// All invocations call it together, with k pairs or more among them, LAST_PAIR not counted.
// `any_pair` is the same for all; bits in common with theirs spare digits. As many as `slack` pairs
// more may precede or equal the pair returned, where that spares digits. All bins are left empty.
fn kth_of(items: ptr<function, Items>, any_pair: Pair, local: u32, k: u32, slack: u32) -> Pair {
#for i in EACH
  let words$i = words_of((*items)[$i]);
#endfor
  kth_clear(local);
  let first = words_of(any_pair);
  var mine = vec3<u32>();
  var open = 0u;  // a bit an item that may be the k-th: booleans take registers
#for i in EACH
  let there$i = (*items)[$i].index != NO_INDEX;
  mine |= select(vec3<u32>(), words$i ^ first, there$i);
  open |= select(0u, $[1 << i]u, there$i);
#endfor
  let differing = kth_differing(local, mine);
  var found = first & ~differing;

  var rank = k;
  var word = 0u;
  var high = 32u;
  while (word <= KEY_WORDS) {
    high = 32u - countLeadingZeros(word_of(differing, word) & ones(high));
    if (high == 0u) {
      word++;
      high = 32u;
      continue;
    }
    let size = min(high, KTH_DIGIT);
    let shift = high - size;
#for i in EACH
    let digit$i = (word_of(words$i, word) >> shift) & ones(size);
    if ((open & $[1 << i]u) != 0u) { atomicAdd(&kth_bins[digit$i], 1u); }
#endfor
    workgroupBarrier();
    var count = 0u;
    for (var b = 0u; b < KTH_EACH; b++) { count += atomicLoad(&kth_bins[local * KTH_EACH + b]); }
    var sum = kth_scan(local, count) - count;
    for (var b = local * KTH_EACH; b < (local + 1u) * KTH_EACH; b++) {
      let own = atomicLoad(&kth_bins[b]);
      if (sum < rank && rank <= sum + own) { kth_found = vec3<u32>(b, sum, own); }
      sum += own;
      atomicStore(&kth_bins[b], 0u);
    }
    let place = workgroupUniformLoad(&kth_found);
    rank -= place.y;
    // Where all of them are wanted, or nearly all, every later bit may be a one.
    let settled = place.z - rank <= slack;
    let placed = (place.x << shift) | select(0u, ones(shift), settled);
#for w in 3
    found[$w] |= select(select(0u, 0xffffffffu, settled && word < $wu), placed, word == $wu);
#endfor
    if (settled) { break; }
#for i in EACH
    open &= ~select($[1 << i]u, 0u, digit$i == place.x);
#endfor
    high = shift;
  }
#if KEY_WORDS == 1
  return Pair(found.x, found.y);
#else
  return Pair(found.xy, found.z);
#endif
}
