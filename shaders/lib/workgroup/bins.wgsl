// A workgroup's counters of digits, and their prefix sums.
//   KTH_DIGIT  bits of a digit
//   KTH_EACH   values of a digit for each invocation, which has neighbouring bins of its own
#import order/words
#import workgroup/scan

const KTH_BINS: u32 = 1u << KTH_DIGIT;

alias OwnBins = array<u32, KTH_EACH>;

var<workgroup> kth_bins: array<atomic<u32>, KTH_BINS>;

fn ones(count: u32) -> u32 { return select(0u, 0xffffffffu >> (32u - count), count > 0u); }

// Empties all bins: workgroup memory is not zeroed (docs/driver-bugs.md). All call it together.
fn kth_clear(local: u32) {
#for b in KTH_EACH
  atomicStore(&kth_bins[$bu * WORKGROUP + local], 0u);
#endfor
}

// An invocation's own bins: all of the loads are under way before the first is used.
fn own_bins(local: u32) -> OwnBins {
  var own: OwnBins;
#for b in KTH_EACH
  own[$b] = atomicLoad(&kth_bins[local * KTH_EACH + $bu]);
#endfor
  return own;
}

// What is in all bins before an invocation's own. All call it together.
fn before_bins(local: u32, own: ptr<function, OwnBins>) -> u32 {
  var count = 0u;
#for b in KTH_EACH
  count += (*own)[$b];
#endfor
  return inclusive_sum(local, count) - count;
}

var<workgroup> kth_found: vec3<u32>;

// The digit whose bin has the pair of a rank, the pairs below that bin, and those in it. All bins
// are left empty. All invocations call it together, after the last count.
fn kth_bin(local: u32, rank: u32) -> vec3<u32> {
  workgroupBarrier();
  var own = own_bins(local);
  var sum = before_bins(local, &own);
#for b in KTH_EACH
  if ((sum < rank) & (rank <= sum + own[$b])) { kth_found = vec3<u32>(local * KTH_EACH + $bu, sum, own[$b]); }
  sum += own[$b];
#endfor
  kth_clear(local);
  return workgroupUniformLoad(&kth_found);
}
