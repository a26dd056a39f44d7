// Reads chosen subsets of a sequence's loads again, a workgroup together, and puts what does not come after a threshold in a list that the
// kernel has: `reserve` gives the first of so many places there, `enlist` fills one.
//   ROOM   for the numbers of chosen subsets
//   AGAIN  loads under way at once
#import source

var<workgroup> chosen: array<u32, ROOM>;
var<workgroup> chosen_count: atomic<u32>;

fn choose(subset: u32) { chosen[atomicAdd(&chosen_count, 1u)] = subset; }

// After a barrier behind the last `choose`.
fn read_chosen(sequence: u32, row: Row, local: u32, threshold: Pair) {
  // Powers of two in place of divisions: some invocations have nothing to read.
  let shift = 32u - countLeadingZeros(params.members - 1u);
  let again = atomicLoad(&chosen_count) << shift;
  for (var w = local; w < again; w += AGAIN * WORKGROUP) {
#for u in AGAIN
    let w$u = min(w + $uu * WORKGROUP, again - 1u);
    let v$u = chosen[w$u >> shift] + (w$u & ((1u << shift) - 1u)) * params.subsets;
    let there$u = w + $uu * WORKGROUP < again && v$u < row.loads;
    let data$u = load(row, min(v$u, row.loads - 1u));
#endfor
#for u in AGAIN
    if (there$u) {
      var passing = 0u;
#for c in PER_LOAD
      let pair$c = item(row, v$u, data$u, $cu);
      let passes$c = pair$c.index != NO_INDEX && !before(threshold, pair$c);
      passing += select(0u, 1u, passes$c);
#endfor
      if (passing > 0u) {
        var at = reserve(sequence, passing);
#for c in PER_LOAD
        if (passes$c) {
          enlist(sequence, at, pair$c);
          at++;
        }
#endfor
      }
    }
#endfor
  }
}
