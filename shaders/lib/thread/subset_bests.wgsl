// The bests of an invocation's subsets. A kernel has the alias Items: an array of OWN pairs.
// Subset p holds the loads p, p + stride, ...
//   OWN      subsets of an invocation, WORKGROUP apart: neighbours read neighbouring loads
//   SECONDS  1 where `nexts` are wanted: a bound on a subset's items outside the best one's load
#import thread/best

#if SECONDS
var<private> nexts: array<Pair, OWN>;
var<private> best_loads: array<u32, OWN>;
#endif

fn scan_own(row: Row, first: u32, stride: u32, items: ptr<function, Items>) {
#for i in OWN
  // The first load stands where no key comes before the last one.
  if (first + $iu * WORKGROUP < row.loads) { (*items)[$i].index = first + $iu * WORKGROUP; }
#if SECONDS
  nexts[$i] = last_pair();
#endif
#endfor
  for (var v = first; v < row.loads; v += stride) {
#for i in OWN
    let data$i = load(row, min(v + $iu * WORKGROUP, row.loads - 1u));
#if SECONDS
    let before$i = (*items)[$i];
    (*items)[$i] = last_pair();
#endif
#endfor
    if (v >= first_whole(row) && v + (OWN - 1u) * WORKGROUP < end_whole(row)) {
#for i in OWN
      (*items)[$i] = best_of_whole(row, v + $iu * WORKGROUP, data$i, (*items)[$i]);
#endfor
    } else {
#for i in OWN
      if (v + $iu * WORKGROUP < row.loads) { (*items)[$i] = best_of(row, v + $iu * WORKGROUP, data$i, (*items)[$i]); }
#endfor
    }
#if SECONDS
#for i in OWN
    nexts[$i].key = key_min(nexts[$i].key, key_max(before$i.key, (*items)[$i].key));
    if (!key_less((*items)[$i].key, before$i.key)) { (*items)[$i] = before$i; }
#endfor
#endif
  }
#for i in OWN
#if SECONDS
  // Another load with the best key comes a stride later, or more.
  best_loads[$i] = (*items)[$i].index;
  nexts[$i].index = select(0u, first_index_in(row, best_loads[$i] + stride), key_equal(nexts[$i].key, (*items)[$i].key));
#endif
  (*items)[$i] = delegate_of(row, (*items)[$i]);
#endfor
}
