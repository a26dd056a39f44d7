// The best item of a register tile: an invocation's loads, a stride apart, all under way at once.
//   LOADS   loads of an invocation; beyond those that the sequence has, the last one again
//   TAIL    how many of the last may have items beyond the sequence's end
//   SKEWED  1 where sequences may begin inside loads, so that the first may have items before it
#import thread/best

// The best of the loads lane, lane + stride, ...
fn best_of_tile(row: Row, lane: u32, stride: u32) -> Pair {
#for l in LOADS
#if LOADS > $[l + TAIL]
  let data$l = load(row, $lu * stride + lane);
#else
  let data$l = load(row, min($lu * stride + lane, row.loads - 1u));
#endif
#endfor
  var best = last_pair();
#if IN_ORDER
  // The first load stands where no key comes before the last one.
  if (lane < row.loads) { best.index = lane; }
#endif
#for l in LOADS
#if LOADS > $[l + TAIL] && $[l + 1] > SKEWED
  best = best_of_whole(row, $lu * stride + lane, data$l, best);
#else
  best = best_of(row, $lu * stride + lane, data$l, best);
#endif
#endfor
  return best;
}
