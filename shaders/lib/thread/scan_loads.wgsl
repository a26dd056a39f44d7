// The best pair of loads a stride apart.
//   UNROLL  loads under way at once
#import thread/best

// The best of the loads begin, begin + stride, ... before end; `row` is their sequence.
fn scan_loads(row: Row, begin: u32, end: u32, stride: u32) -> Pair {
  return scan_further(row, begin, end, stride, last_pair());
}

// And of those that were scanned before.
fn scan_further(row: Row, begin: u32, end: u32, stride: u32, so_far: Pair) -> Pair {
  var best = so_far;
  // The first load stands where no key comes before the last one.
  if (IN_ORDER > 0u && best.index == NO_INDEX && begin < end) { best.index = begin; }
  var q = begin;
  if (q < min(first_whole(row), end)) {
    best = best_of(row, q, load(row, q), best);
    q += stride;
  }
  // Several loads in flight at once: the memory's latency is what counts.
  let whole = min(end_whole(row), end);
  for (; q + (UNROLL - 1u) * stride < whole; q += UNROLL * stride) {
#for u in UNROLL
    let data$u = load(row, q + $uu * stride);
#endfor
#for u in UNROLL
    best = best_of_whole(row, q + $uu * stride, data$u, best);
#endfor
  }
  for (; q < end; q += stride) { best = best_of(row, q, load(row, q), best); }
  return best;
}
