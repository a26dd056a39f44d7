// Lists of items into the rows of a running top-k, a workgroup a sequence.
// input, state, lists, arrivals -> state, arrivals (zeros)
//
// A list that is too long is cut to its first. One that overflowed is made again, in steps.
//   LONGEST  pairs of a list that are sorted
//   HELD     pairs of a row for each invocation
#import io/arriving_items
#import io/running_threshold
#import workgroup/kept_list
#import workgroup/merge_list

@group(0) @binding(2) var<storage, read_write> arrivals: array<atomic<u32>>;  // as the indices lie

var<workgroup> kept_keys: array<Key, LONGEST>;
var<private> entries: array<Entry, HELD>;

// Makes a list anew, with what may be taken of all items. Returns its length.
fn refilled(local: u32, sequence: u32, start: u32, first: Pair) -> u32 {
  let row = row_of(sequence);
  var threshold = first;
  var count = 0u;
  var next = 0u;
  if (local == 0u) { atomicStore(&filled, 0u); }
  workgroupBarrier();
  loop {
    let over = next >= row.loads;
    if (count > select(most_listed(), params.longest, over)) {
      threshold = keep_first(local, start, count);
      count = same_for_all(local, atomicLoad(&kept));
      if (local == 0u) { atomicStore(&filled, count); }
      workgroupBarrier();
    }
    if (over) { break; }
    if (local < readers()) { list_items(row, start, next + local, threshold); }
    next += readers();
    storageBarrier();
    workgroupBarrier();
    count = same_for_all(local, atomicLoad(&filled));
  }
  return count;
}

// How many keys of a row come before one that arrives, or equal it: they came sooner.
fn kept_before(count: u32, key: Key) -> u32 {
  var low = 0u;
  var high = count;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (key_less(key, kept_keys[middle])) { high = middle; } else { low = middle + 1u; }
  }
  return low;
}

// An invocation's entries of a row, and their keys for all.
fn hold_row(local: u32, row: u32) {
#for h in HELD
  let j$h = min($hu * WORKGROUP + local, params.k - 1u);
  entries[$h] = Entry(bits_kept(row, j$h), id_kept(row, j$h));
#endfor
#for h in HELD
  if ($hu * WORKGROUP + local < params.k) { kept_keys[$hu * WORKGROUP + local] = key_of(entries[$h].bits); }
#endfor
}

// The pairs of a row and the list's first `count`, which are in order, to their ranks. `held`: how
// many the row has.
fn merge_row(local: u32, sequence: u32, row: u32, held: u32, count: u32) {
#for h in HELD
  let j$h = $hu * WORKGROUP + local;
  var rank$h = params.k;
  var place$h = params.k;
  var new$h: Entry;
  if (j$h < params.k) {
    // What stands beyond the pairs that are kept gives way to all that arrive.
    rank$h = j$h + select(count, count_before(0u, count, held_of(Pair(kept_keys[j$h], 0u))), j$h < held);
  }
  if (j$h < count) {
    let pair = pair_held(list[j$h]);
    place$h = j$h + kept_before(held, pair.key);
    new$h = entry_of(sequence, pair, row);
  }
#endfor
  storageBarrier();
  workgroupBarrier();
#for h in HELD
  if (rank$h < params.k) { put_kept(row, rank$h, entries[$h]); }
  if (place$h < params.k) { put_kept(row, place$h, new$h); }
#endfor
  if (local == 0u) { state[row + 2u] = min(params.k, held + count); }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  let number = sequence_offsets(sequence).z;
  let row = number * row_words();
  let start = sequence * params.places;
  // Nearly always few items arrive. Then nothing is waited for twice.
  let first = listed(start, local);
  let head = vec3<u32>(state[row], state[row + 1u], state[row + 2u]);
  hold_row(local, row);
  var count = 0u;
  if (local == 0u) {
    count = atomicLoad(&arrivals[number]);
    atomicStore(&arrivals[number], 0u);
  }
  count = same_for_all(local, count);
  let many = count > params.longest;
  if (count > params.places) {
    count = refilled(local, sequence, start, bound_of(row).pair);
  } else if (count > params.longest) {
    _ = keep_first(local, start, count);
    count = same_for_all(local, atomicLoad(&kept));
  }
  if (count > 0u) {
    if (local < count && !many) { list[local] = held_of(first); }
    for (var i = local + select(WORKGROUP, 0u, many); i < count; i += WORKGROUP) { list[i] = held_of(listed(start, i)); }
    workgroupBarrier();
    merge_list(local, count);
    merge_row(local, sequence, row, head.z, min(count, params.k));
  }
  if (local == 0u) {
    let seen = sum_of(head.xy, vec2<u32>(params.advance, 0u));
    state[row] = seen.x;
    state[row + 1u] = seen.y;
  }
}
