// The best item of a register tile: an invocation's loads, a stride apart, all under way at once.
//   LOADS  loads of an invocation, no fewer than it has
//
// Loads beyond a sequence's end are others again: an item that is seen twice is no better. Only the
// first and the last load may have items that are not the sequence's, but for those of the fewest.
#import thread/best

// The best of the loads lane, lane + stride, ...
fn best_of_tile(row: Row, lane: u32, stride: u32) -> Pair {
  let last = row.loads - 1u;
  let last_whole = end_whole(row) - 1u;
#for l in LOADS
#if LOADS > 3 && $l > 0 && LOADS > $[l + 1]
  let v$l = min($lu * stride + lane, last_whole);
#else
  let v$l = min($lu * stride + lane, last);
#endif
  let data$l = load(row, v$l);
#endfor
  var best = last_pair();
  // The first load stands where no key comes before the last one.
  if (IN_ORDER > 0u && lane < row.loads) { best.index = lane; }
#for l in LOADS
#if LOADS > 3 && $l > 0 && LOADS > $[l + 1]
  best = best_of_whole(row, v$l, data$l, best);
#else
  best = best_of(row, v$l, data$l, best);
#endif
#endfor
  return best;
}
