// The bests of an invocation's subsets, and which of these are read again by them. A kernel has the
// alias Items: an array of OWN pairs.
// Subset p holds the loads p, p + stride, ... Items come in ascending order of index (IN_ORDER).
//   OWN      subsets of an invocation, WORKGROUP apart: neighbours read neighbouring loads
//   SECONDS  1 where `nexts` are wanted: a bound on a subset's items outside the best one's load
#import thread/best
#import workgroup/survivors

#if SECONDS
var<private> nexts: array<Pair, OWN>;
var<private> best_loads: array<u32, OWN>;
#endif

// Whole loads, as many under way at once as there are subsets.
fn scan_whole(row: Row, first: u32, stride: u32, items: ptr<function, Items>) {
  let begin = first_whole(row);
  let end = end_whole(row);
  for (var v = first; v < end; v += stride) {
#for i in OWN
    let v$i = v + $iu * WORKGROUP;
    let data$i = load(row, min(v$i, row.loads - 1u));
#endfor
#for i in OWN
    let least$i = select(LAST_KEY, least_in(data$i), (begin <= v$i) & (v$i < end));
#if SECONDS
    nexts[$i].key = key_min(nexts[$i].key, key_max((*items)[$i].key, least$i));
#endif
    if (key_less(least$i, (*items)[$i].key)) { (*items)[$i] = Pair(least$i, v$i); }
#endfor
  }
}

// Loads with items of other sequences too: the first, and the last. Where sequences have spans,
// what follows their items as well.
fn scan_edges(row: Row, first: u32, stride: u32, items: ptr<function, Items>) {
  let begin = first_whole(row);
  let end = max(begin, end_whole(row));
  let behind = end + (first - end) % WORKGROUP;  // the first that is this invocation's
  for (var v = select(behind, 0u, first < begin); v < row.loads; v = select(v + WORKGROUP, behind, v < begin)) {
    let found = best_of(row, v, load(row, v), last_pair());
    let own = v % stride / WORKGROUP;
#for i in OWN
    if (own == $iu) {
#if SECONDS
      nexts[$i].key = key_min(nexts[$i].key, key_max((*items)[$i].key, found.key));
#endif
      if (before(found, (*items)[$i])) { (*items)[$i] = found; }
    }
#endfor
  }
}

fn scan_own(row: Row, first: u32, stride: u32, items: ptr<function, Items>) {
#for i in OWN
  // The first load stands where no key comes before the last one.
  if (first + $iu * WORKGROUP < row.loads) { (*items)[$i].index = first + $iu * WORKGROUP; }
#if SECONDS
  nexts[$i] = last_pair();
#endif
#endfor
  scan_whole(row, first, stride, items);
  scan_edges(row, first, stride, items);
#for i in OWN
#if SECONDS
  // Another load with the best key comes a stride later, or more.
  best_loads[$i] = (*items)[$i].index;
  nexts[$i].index = select(0u, first_index_in(row, best_loads[$i] + stride), key_equal(nexts[$i].key, (*items)[$i].key));
#endif
  (*items)[$i] = delegate_of(row, (*items)[$i]);
#endfor
}

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
