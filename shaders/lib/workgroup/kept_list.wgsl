// A list of each sequence in `list_keys` and `list_indices`, which one workgroup fills and cuts.
//
// It has params.places places. Cut, it has params.longest pairs at most, the first k among them.
//   EACH  places of a list for each invocation, at least
#import io/source
#import workgroup/kth
#import workgroup/same

// [sequence][place], then a threshold a sequence.
@group(0) @binding(7) var<storage, read_write> list_keys: array<Key>;
@group(0) @binding(8) var<storage, read_write> list_indices: array<u32>;

var<workgroup> filled: atomic<u32>;
var<workgroup> kept: atomic<u32>;

fn listed(start: u32, at: u32) -> Pair { return Pair(list_keys[start + at], list_indices[start + at]); }

fn put_listed(start: u32, at: u32, pair: Pair) {
  list_keys[start + at] = pair.key;
  list_indices[start + at] = pair.index;
}

// Lists what does not come after the threshold in a load, if there is one.
fn list_items(row: Row, start: u32, v: u32, threshold: Pair) {
  if (v >= row.loads) { return; }
  let data = load(row, v);
#for c in PER_LOAD
  {
    let candidate = item(row, v, data, $cu);
    if (passes(threshold, candidate)) { put_listed(start, atomicAdd(&filled, 1u), candidate); }
  }
#endfor
}

// Invocations that read a load between two looks at the room; the longest list with room for them.
fn readers() -> u32 { return min(WORKGROUP, (params.places - params.k) / PER_LOAD); }
fn most_listed() -> u32 { return params.places - readers() * PER_LOAD; }

// The list has its first `count` pairs, and no others. Returns how many.
fn begin_with(local: u32, count: u32) -> u32 {
  if (local == 0u) { atomicStore(&filled, count); }
  workgroupBarrier();
  return count;
}

// How many pairs have been listed by all.
fn count_listed(local: u32) -> u32 {
  storageBarrier();
  workgroupBarrier();
  return same_for_all(local, atomicLoad(&filled));
}

// Keeps the first k of the list's first `count` at its beginning, in any order, or some more where
// those are found sooner. Returns a pair that no pair kept comes after.
fn keep_first(local: u32, start: u32, count: u32) -> Pair {
  var items: Items;
#for i in EACH
  items[$i] = last_pair();
  if ($iu * WORKGROUP + local < count) { items[$i] = listed(start, $iu * WORKGROUP + local); }
#endfor
  let last = kth_of(&items, local, params.k, min(params.longest, most_listed()) - params.k);
  if (local == 0u) { atomicStore(&kept, 0u); }
  storageBarrier();
  workgroupBarrier();
#for i in EACH
  if (passes(last, items[$i])) { put_listed(start, atomicAdd(&kept, 1u), items[$i]); }
#endfor
  storageBarrier();
  workgroupBarrier();
  return last;
}
