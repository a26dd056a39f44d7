// Sorts a list in workgroup memory: into buckets, then by counting within each. Where one has over
// FULLEST pairs, by merging.
#import workgroup/buckets
#import workgroup/merge_list

const FULLEST: u32 = 64u;

// Sorts the `length` pairs carried, all up to `last`, into the list; the first params.k at least.
// All invocations call it together, after a barrier behind `kth_of` or `kth_clear`.
fn sort_carried(local: u32, length: u32, carried: ptr<function, Carried>, any_pair: Pair, last: Pair) {
  var places: Numbers;
  var bounds: Numbers;
  let runs = runs_of(differing_of(local, carried, any_pair, last));
#for c in CARRIED
  if (is_carried((*carried)[$c])) {
    bounds[$c] = code_of(distances_of(pair_held((*carried)[$c]), last), runs);
    places[$c] = atomicAdd(&kth_bins[bounds[$c] >> FRACTION], 1u);
  }
#endfor
  workgroupBarrier();
  var most = begin_buckets(local);
#if SPLITS
  if (most > CROWDED) {
    most = split_buckets(local, length, carried, &bounds, &places);
  } else {
    bound_by_buckets(length, carried, &bounds);
  }
#else
  bound_by_buckets(length, carried, &bounds);
#endif
#for c in CARRIED
  if (is_carried((*carried)[$c])) { list[(bounds[$c] & 0xffffu) + places[$c]] = (*carried)[$c]; }
#endfor
  workgroupBarrier();
  if (most > FULLEST) {
    merge_list(local, length);
    return;
  }
#for c in CARRIED
  if (is_carried((*carried)[$c]) && (bounds[$c] & 0xffffu) < params.k) {
    let begin = bounds[$c] & 0xffffu;
    places[$c] = begin + count_all_before(begin, bounds[$c] >> 16u, (*carried)[$c]);
  }
#endfor
  workgroupBarrier();
#for c in CARRIED
  if (is_carried((*carried)[$c]) && (bounds[$c] & 0xffffu) < params.k) { list[places[$c]] = (*carried)[$c]; }
#endfor
  workgroupBarrier();
}

// Sorts the list's first `length` pairs in place, as `sort_carried` does.
fn sort_list(local: u32, length: u32, last: Pair) {
  var carried: Carried;
#for c in CARRIED
  carried[$c] = nothing_held();
  if ($cu * WORKGROUP + local < length) { carried[$c] = list[$cu * WORKGROUP + local]; }
#endfor
  sort_carried(local, length, &carried, pair_held(list[0]), last);
}
