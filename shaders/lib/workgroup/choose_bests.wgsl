// Chooses the subsets that are read again (lib/workgroup/survivors.wgsl), by an invocation's bests.
#import workgroup/survivors
#import thread/subset_bests

// Subsets whose best passes; of those whose other loads cannot pass, the best one's load alone.
fn choose_all(items: ptr<function, Items>, first: u32, threshold: Pair) {
  var subsets = 0u;  // a bit each
#if SECONDS
  var loads = 0u;
#endif
#for i in OWN
  if (passes(threshold, (*items)[$i])) {
#if SECONDS
    if (before(threshold, nexts[$i])) { loads |= $[1 << i]u; } else { subsets |= $[1 << i]u; }
#else
    subsets |= $[1 << i]u;
#endif
  }
#endfor
  if (subsets != 0u) {
    var place = places_for_subsets(countOneBits(subsets));
#for i in OWN
    if ((subsets & $[1 << i]u) != 0u) { chosen[place] = first + $iu * WORKGROUP; place++; }
#endfor
  }
#if SECONDS
  if (loads != 0u) {
    var place = places_for_loads(countOneBits(loads));
#for i in OWN
    if ((loads & $[1 << i]u) != 0u) { chosen[place] = best_loads[$i]; place++; }
#endfor
  }
#endif
}
