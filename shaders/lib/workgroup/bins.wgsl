// A workgroup's counters of digits, and their prefix sums.
//   KTH_DIGIT  bits of a digit; there are no fewer values of it than invocations
#import order/words
#import workgroup/scan

const KTH_BINS: u32 = 1u << KTH_DIGIT;
const KTH_EACH: u32 = KTH_BINS / WORKGROUP;  // neighbouring bins that are an invocation's own

var<workgroup> kth_bins: array<atomic<u32>, KTH_BINS>;

fn word_of(words: vec3<u32>, word: u32) -> u32 {
#if KEY_WORDS == 1
  return select(words.x, words.y, word == 1u);
#else
  return select(select(words.x, words.y, word == 1u), words.z, word == 2u);
#endif
}

fn ones(count: u32) -> u32 { return select(0u, 0xffffffffu >> (32u - count), count > 0u); }

// Empties an invocation's own bins: workgroup memory is not zeroed (docs/driver-bugs.md).
fn kth_clear(local: u32) {
  for (var b = 0u; b < KTH_EACH; b++) { atomicStore(&kth_bins[local * KTH_EACH + b], 0u); }
}

var<workgroup> kth_found: vec3<u32>;

// The digit whose bin has the pair of a rank, the pairs below that bin, and those in it. All bins
// are left empty. All invocations call it together, after the last count.
fn kth_bin(local: u32, rank: u32) -> vec3<u32> {
  workgroupBarrier();
  var count = 0u;
  for (var b = 0u; b < KTH_EACH; b++) { count += atomicLoad(&kth_bins[local * KTH_EACH + b]); }
  var sum = inclusive_sum(local, count) - count;
  for (var b = local * KTH_EACH; b < (local + 1u) * KTH_EACH; b++) {
    let own = atomicLoad(&kth_bins[b]);
    if (sum < rank && rank <= sum + own) { kth_found = vec3<u32>(b, sum, own); }
    sum += own;
    atomicStore(&kth_bins[b], 0u);
  }
  return workgroupUniformLoad(&kth_found);
}
