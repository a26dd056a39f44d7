// The k-th pair of those that a workgroup holds in registers, EACH an invocation, by histograms of digits in workgroup memory, most
// significant first. Only the bits that differ anywhere are looked at.
#import pair

const KTH_BINS: u32 = 2048u;
const KTH_DIGIT: u32 = 11u;

alias Items = array<Pair, EACH>;

var<workgroup> kth_bins: array<atomic<u32>, KTH_BINS>;
var<workgroup> kth_sums: array<u32, KTH_BINS / 2u>;  // of two neighbouring bins
var<workgroup> kth_tops: array<u32, 32>;             // of 64
var<workgroup> kth_spread: array<atomic<u32>, 3>;    // the bits of each word that differ
var<workgroup> kth_words: vec3<u32>;
var<workgroup> kth_found: vec3<u32>;                 // digit, pairs in the bins before it, pairs in its own

fn words_of(pair: Pair) -> vec3<u32> {
#if KEY_WORDS == 1
  return vec3<u32>(pair.key, pair.index, 0u);
#else
  return vec3<u32>(pair.key, pair.index);
#endif
}

fn word_of(words: vec3<u32>, word: u32) -> u32 {
  return select(select(words.x, words.y, word == 1u), words.z, word == 2u);
}

// All invocations call it together, with at least k pairs among them; `k` counts from 1. Nothing (LAST_PAIR) counts as a pair.
// Up to `slack` pairs more may not come after what is returned, where that spares digits.
fn kth_of(items: ptr<function, Items>, local: u32, k: u32, slack: u32) -> Pair {
#for i in EACH
  let words$i = words_of((*items)[$i]);
#endfor
  if (local < 3u) { atomicStore(&kth_spread[local], 0u); }
  if (local == 0u) { kth_words = words0; }
  let first = workgroupUniformLoad(&kth_words);
  var differing = vec3<u32>();
#for i in EACH
  differing |= words$i ^ first;
#endfor
#for w in 3
  if (differing[$w] != 0u) { atomicOr(&kth_spread[$w], differing[$w]); }
#endfor
  workgroupBarrier();
  if (local == 0u) {
    kth_words = vec3<u32>(atomicLoad(&kth_spread[0]), atomicLoad(&kth_spread[1]), atomicLoad(&kth_spread[2]));
  }
  let bits = 32u - countLeadingZeros(workgroupUniformLoad(&kth_words));
  var found = vec3<u32>();
#for w in 3
  found[$w] = select(0u, (first[$w] >> bits[$w]) << bits[$w], bits[$w] < 32u);
#endfor

  var rank = k;
#for i in EACH
  var open$i = true;
#endfor
  var word = 0u;
  var high = bits.x;
  while (word <= KEY_WORDS) {
    if (high == 0u) {
      word++;
      high = select(bits.y, bits.z, word == 2u);
      continue;
    }
    let size = min(high, KTH_DIGIT);
    let shift = high - size;
    for (var b = local; b < KTH_BINS; b += WORKGROUP) { atomicStore(&kth_bins[b], 0u); }
    workgroupBarrier();
#for i in EACH
    let digit$i = (word_of(words$i, word) >> shift) & ((1u << size) - 1u);
    if (open$i) { atomicAdd(&kth_bins[digit$i], 1u); }
#endfor
    workgroupBarrier();
    for (var b = local; b < KTH_BINS / 2u; b += WORKGROUP) {
      kth_sums[b] = atomicLoad(&kth_bins[2u * b]) + atomicLoad(&kth_bins[2u * b + 1u]);
    }
    workgroupBarrier();
    if (local < 32u) {
      var top = 0u;
      // Each from another bank at a time; the order does not matter.
#for j in 32
      top += kth_sums[local * 32u + ((local + $ju) & 31u)];
#endfor
      kth_tops[local] = top;
    }
    workgroupBarrier();
    if (local < 32u) {
      var before = 0u;
      var top = 0u;
      var sum = 0u;
#for j in 32
      if (before < rank) {
        top = $ju;
        sum = before;
      }
      before += kth_tops[$j];
#endfor
#for j in 32
      sum += select(0u, kth_sums[top * 32u + $ju], $ju < local);
#endfor
      let bin = 2u * (top * 32u + local);
      let both = kth_sums[bin / 2u];
      if (sum < rank && rank <= sum + both) {
        let low = atomicLoad(&kth_bins[bin]);
        kth_found = select(vec3<u32>(bin + 1u, sum + low, both - low), vec3<u32>(bin, sum, low), rank <= sum + low);
      }
    }
    let place = workgroupUniformLoad(&kth_found);
    rank -= place.y;
    // Where all of them are wanted, or nearly all, every later bit may be a one.
    let settled = place.z - rank <= slack;
    let placed = (place.x << shift) | select(0u, (1u << shift) - 1u, settled);
#for w in 3
    found[$w] |= select(select(0u, 0xffffffffu, settled && word < $wu), placed, word == $wu);
#endfor
    if (settled) { break; }
#for i in EACH
    open$i = open$i && digit$i == place.x;
#endfor
    high = shift;
  }
#if KEY_WORDS == 1
  return Pair(found.x, found.y);
#else
  return Pair(found.xy, found.z);
#endif
}
