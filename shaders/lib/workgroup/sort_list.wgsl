// Sorts a list in workgroup memory: into buckets, then by counting within each.
#import workgroup/buckets

// Sorts the pairs carried, up to `length`, into the list; the first `ranks` at least, and nothing
// behind them. All invocations call it together, with empty bins and after a barrier.
fn sort_carried(local: u32, length: u32, ranks: u32, carried: ptr<function, Carried>) {
  var bounds = list_by_buckets(local, length, ranks, carried);
#for c in CARRIED
  if (is_carried((*carried)[$c]) & (begin_of(bounds[$c]) < ranks)) {
    bounds[$c] = begin_of(bounds[$c]) + count_all_before(begin_of(bounds[$c]), end_of(bounds[$c]), (*carried)[$c]);
  } else {
    bounds[$c] = PLACES;
  }
#endfor
  workgroupBarrier();
#for c in CARRIED
  if (bounds[$c] < PLACES) { list[bounds[$c]] = (*carried)[$c]; }
#endfor
  for (var i = shared_counts.y + local; i < length; i += WORKGROUP) { list[i] = nothing_held(); }
  workgroupBarrier();
}

// Sorts the list's first `length` pairs in place, as `sort_carried` does.
fn sort_list(local: u32, length: u32, ranks: u32) {
  var carried: Carried;
#for c in CARRIED
  carried[$c] = nothing_held();
  if ($cu * WORKGROUP + local < length) { carried[$c] = list[$cu * WORKGROUP + local]; }
#endfor
  sort_carried(local, length, ranks, &carried);
}
