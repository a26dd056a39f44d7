// Sorts a list in workgroup memory: into buckets, then by counting within each. Where one has over
// FULLEST pairs, by merging.
#import workgroup/buckets
#import workgroup/merge_list

const FULLEST: u32 = 64u;

// Sorts the `length` pairs carried, all up to `last`, into the list; the first params.k at least.
// An invocation has them among its first `held`. All invocations call it together, after a barrier
// behind `kth_of` or `kth_clear`.
fn sort_carried(local: u32, length: u32, held: u32, carried: ptr<function, Carried>, any_pair: Pair, last: Pair) {
  var places: Numbers;
  var bounds: Numbers;
  let differing = differing_of(local, held, carried, any_pair, last);
  for (var c = 0u; c < CARRIED && c < held; c++) {
    if (!is_carried((*carried)[c])) { continue; }
    bounds[c] = code_of(distances_of(pair_of((*carried)[c]), last), differing);
    places[c] = atomicAdd(&kth_bins[bounds[c] >> FRACTION], 1u);
  }
  workgroupBarrier();
  var most = begin_buckets(local);
#if SPLITS
  if (most > CROWDED) {
    most = split_buckets(local, length, held, carried, &bounds, &places);
  } else {
    bound_by_buckets(length, held, carried, &bounds);
  }
#else
  bound_by_buckets(length, held, carried, &bounds);
#endif
  for (var c = 0u; c < CARRIED && c < held; c++) {
    if (is_carried((*carried)[c])) { list[(bounds[c] & 0xffffu) + places[c]] = (*carried)[c]; }
  }
  workgroupBarrier();
  if (most > FULLEST) {
    merge_list(local, length);
    return;
  }
  for (var c = 0u; c < CARRIED && c < held; c++) {
    let begin = bounds[c] & 0xffffu;
    if (!is_carried((*carried)[c]) || begin >= params.k) { continue; }
    places[c] = begin + count_all_before(begin, bounds[c] >> 16u, pair_of((*carried)[c]));
  }
  workgroupBarrier();
  for (var c = 0u; c < CARRIED && c < held; c++) {
    if (is_carried((*carried)[c]) && (bounds[c] & 0xffffu) < params.k) { list[places[c]] = (*carried)[c]; }
  }
  workgroupBarrier();
}

// Sorts the list's first `length` pairs in place, as `sort_carried` does.
fn sort_list(local: u32, length: u32, last: Pair) {
  let held = (max(length, local) - local + WORKGROUP - 1u) / WORKGROUP;
  var carried: Carried;
  for (var c = 0u; c < CARRIED && c < held; c++) { carried[c] = list[c * WORKGROUP + local]; }
  sort_carried(local, length, held, &carried, pair_of(list[0]), last);
}
