// Sorts a list in workgroup memory: into buckets by the first bits that differ, then by counting.
// Where a bucket has over FULLEST pairs, by merging: a pair's place is its own in its run and, by
// binary search, the number before it in the other.
//   PLACES   of the list
//   LONGEST  that is sorted
#import workgroup/kth

const FULLEST: u32 = 64u;
const RUN: u32 = 16u;  // these are sorted by counting where the list is merged
const CARRIED: u32 = (LONGEST + WORKGROUP - 1u) / WORKGROUP;  // pairs of an invocation on their way

var<workgroup> list: array<Stored, PLACES>;
var<workgroup> fullest: atomic<u32>;
var<workgroup> shared_fullest: u32;

// Words in the order of pairs up to `last`. The first is a distance to the last key: leading bits
// may mislead, as half of the numbers from 1 to 3 differ from the others in their whole exponent.
fn distances_of(pair: Pair, last: Pair) -> vec3<u32> {
  return words_of(pair) - vec3<u32>(words_of(last).x + 1u, 0u, 0u);
}

// As many of the first bits that differ as a digit has, whatever lies between them.
fn bucket_of(words: vec3<u32>, differing: vec3<u32>) -> u32 {
  var bucket = 0u;
  var room = KTH_DIGIT;
#for w in 3
  var rest$w = differing[$w];
  while (rest$w != 0u && room > 0u) {
    let high = 32u - countLeadingZeros(rest$w);
    let low = 32u - countLeadingZeros(~rest$w & ones(high));
    let size = min(room, high - low);
    bucket = (bucket << size) | ((words[$w] >> (high - size)) & ones(size));
    room -= size;
    rest$w &= ones(high - size);
  }
#endfor
  return bucket;
}

// How many pairs of the ordered places from `begin` to before `end` come before a pair.
fn count_before(begin: u32, end: u32, pair: Pair) -> u32 {
  var low = begin;
  var high = end;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (before(pair_of(list[middle]), pair)) { low = middle + 1u; } else { high = middle; }
  }
  return low - begin;
}

// And where they are in no order.
fn count_all_before(begin: u32, end: u32, pair: Pair) -> u32 {
  var count = 0u;
  for (var other = begin; other < end; other++) { count += select(0u, 1u, before(pair_of(list[other]), pair)); }
  return count;
}

// Sorts the list's first `length` pairs, all up to `last`. All invocations call it together, after
// a barrier behind `kth_of` or `kth_clear`, with the same arguments.
fn sort_list(local: u32, length: u32, last: Pair) {
  var carried: array<Stored, CARRIED>;
  var places: array<u32, CARRIED>;
  var buckets: array<u32, CARRIED>;
  let first = distances_of(pair_of(list[0]), last);
  var mine = vec3<u32>();
  for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) {
    carried[c] = list[c * WORKGROUP + local];
    mine |= distances_of(pair_of(carried[c]), last) ^ first;
  }
  if (local == 0u) { atomicStore(&fullest, 0u); }
  let differing = kth_differing(local, mine);
  for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) {
    buckets[c] = bucket_of(distances_of(pair_of(carried[c]), last), differing);
    places[c] = atomicAdd(&kth_bins[buckets[c]], 1u);
  }
  workgroupBarrier();
  var count = 0u;
  var most = 0u;
  for (var b = 0u; b < KTH_EACH; b++) {
    let own = atomicLoad(&kth_bins[local * KTH_EACH + b]);
    count += own;
    most = max(most, own);
  }
  atomicMax(&fullest, most);
  var begin = kth_scan(local, count) - count;
  for (var b = local * KTH_EACH; b < (local + 1u) * KTH_EACH; b++) {
    let own = atomicLoad(&kth_bins[b]);
    atomicStore(&kth_bins[b], begin);
    begin += own;
  }
  if (local == 0u) { shared_fullest = atomicLoad(&fullest); }
  let merges = workgroupUniformLoad(&shared_fullest) > FULLEST;
  for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) {
    list[atomicLoad(&kth_bins[buckets[c]]) + places[c]] = carried[c];
  }
  workgroupBarrier();
  if (merges) {
    merge_list(local, length);
    return;
  }
  for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) {
    let begin = atomicLoad(&kth_bins[buckets[c]]);
    var end = length;
    if (buckets[c] + 1u < KTH_BINS) { end = atomicLoad(&kth_bins[buckets[c] + 1u]); }
    places[c] = begin + count_all_before(begin, end, pair_of(carried[c]));
  }
  workgroupBarrier();
  for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) { list[places[c]] = carried[c]; }
  workgroupBarrier();
}

// The same by merging, whatever the pairs are.
fn merge_list(local: u32, length: u32) {
  var carried: array<Stored, CARRIED>;
  var places: array<u32, CARRIED>;
  for (var run = 1u; run < length; run = max(RUN, 2u * run)) {
    for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) {
      let at = c * WORKGROUP + local;
      carried[c] = list[at];
      let mine = pair_of(carried[c]);
      if (run == 1u) {
        let begin = at / RUN * RUN;
        places[c] = begin + count_all_before(begin, min(begin + RUN, length), mine);
      } else {
        let sibling = ((at / run) ^ 1u) * run;
        places[c] = at - select(0u, run, sibling < at) + count_before(min(sibling, length), min(sibling + run, length), mine);
      }
    }
    workgroupBarrier();
    for (var c = 0u; c < CARRIED && c * WORKGROUP + local < length; c++) { list[places[c]] = carried[c]; }
    workgroupBarrier();
  }
}
