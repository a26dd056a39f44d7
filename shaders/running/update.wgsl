// Items into the rows of a running top-k: input, state, meeting -> state, meeting.
//
// The workgroups of a sequence each collect what comes before the last pair that is kept. The last
// of them to publish it merges all with the row: mostly nothing, as few items arrive. What is too
// much for that it reads again, in steps.
//   COLLECTED  pairs that a workgroup collects
//   LONGEST    pairs of a list that are sorted
//   HELD       pairs of a row for each invocation
#import io/arriving_items
#import thread/list_near
#import workgroup/kept_list
#import workgroup/last_block
#import workgroup/merge_list

var<workgroup> kept_keys: array<Key, LONGEST>;
var<workgroup> collected: atomic<u32>;  // pairs in `list`, and those without room there
var<workgroup> returned: atomic<u32>;
var<workgroup> first_place: u32;
var<private> entries: array<Entry, HELD>;

// The last pair that may be taken. An item whose key is kept already came too late.
struct Bound { any: bool, pair: Pair }

fn bound_of(row: u32) -> Bound {
  // Both loads are under way before the first is used.
  let length = state[row + 2u];
  let key = key_of(bits_kept(row, params.k - 1u));
  if (length < params.k) { return Bound(true, last_pair()); }
  if (none_before(key)) { return Bound(false, Pair(key, 0u)); }
  return Bound(true, Pair(key_before(key), NO_INDEX));
}

fn nth_load(n: u32) -> u32 { return n; }
fn reserve(sequence: u32, count: u32) -> u32 { return atomicAdd(&collected, count); }

fn enlist(sequence: u32, at: u32, pair: Pair) {
  if (at < COLLECTED) { list[at] = held_of(pair); }
}

// Collects from a part of a sequence. No load waits for the threshold. Returns how many passed.
fn collect(local: u32, sequence: u32, part: u32, bound: Bound) -> u32 {
  if (local == 0u) {
    atomicStore(&collected, 0u);
    atomicStore(&returned, 0u);
  }
  workgroupBarrier();
  let row = row_of(sequence);
  let stride = params.parts * WORKGROUP;
  let limit = limit_of(row, bound.pair);
  for (var q = part * WORKGROUP + local; q < row.loads; q += AGAIN * stride) { list_near(sequence, row, q, stride, limit); }
  workgroupBarrier();
  return select(0u, atomicLoad(&collected), bound.any);
}

// Publishes what a workgroup has collected. Those without room are counted as more than all have.
// For the last part of the sequence 1, or more where any part has found something; else 0.
fn publish_collected(local: u32, number: u32, found: u32) -> u32 {
  if (local == 0u && found > 0u) {
    first_place = next_of(number, select(found, params.meeting_places + 1u, found > COLLECTED));
    atomicOr(&returned, first_place >> 31u);  // never: so it has been counted before the arrival is
  }
  workgroupBarrier();
  for (var i = local; i < select(0u, found, found <= COLLECTED); i += WORKGROUP) {
    if (first_place + i < params.meeting_places) { atomicOr(&returned, publish(number, first_place + i, pair_held(list[i]))); }
  }
  workgroupBarrier();
  if (local > 0u) { return 0u; }
  return arrive(number, atomicLoad(&returned), found > 0u);
}

// What all parts have published, to `list`, which may lack room. Returns how many.
fn consume_all(local: u32, number: u32) -> u32 {
  var total = 0u;
  if (local == 0u) { total = numbers_of(number); }
  let count = same_for_all(local, total);
  if (count > params.meeting_places) {
    clear_meeting(local, number);
  } else {
    for (var i = local; i < count; i += WORKGROUP) { list[i] = held_of(consume(number, i)); }
  }
  return count;
}

// Makes a list of what may be taken of all items, no longer than is sorted. Returns its length.
fn refilled(local: u32, sequence: u32, start: u32, first: Pair) -> u32 {
  let row = row_of(sequence);
  var threshold = first;
  var count = begin_with(local, 0u);
  var next = 0u;
  loop {
    let over = next >= row.loads;
    if (count > select(most_listed(), params.longest, over)) {
      threshold = keep_first(local, start, count);
      count = begin_with(local, same_for_all(local, atomicLoad(&kept)));
    }
    if (over) { break; }
    if (local < readers()) { list_items(row, start, next + local, threshold); }
    next += readers();
    count = count_listed(local);
  }
  for (var i = local; i < count; i += WORKGROUP) { list[i] = held_of(listed(start, i)); }
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

// An invocation's entries of a row: under way before they are wanted, which is seldom.
fn read_row(local: u32, row: u32) {
#for h in HELD
  let j$h = min($hu * WORKGROUP + local, params.k - 1u);
  entries[$h] = Entry(bits_kept(row, j$h), id_kept(row, j$h));
#endfor
}

// Their keys, for all.
fn hold_keys(local: u32) {
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

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup / params.parts;
  if (sequence >= params.sequences) { return; }
  let number = sequence_offsets(sequence).z;
  let row = number * row_words();
  // What is found, and so each arrival, depends on these reads: the last one writes after them.
  let bound = bound_of(row);
  let head = vec3<u32>(state[row], state[row + 1u], state[row + 2u]);
  read_row(local, row);
  var count = collect(local, sequence, workgroup % params.parts, bound);
  var room = COLLECTED;
  if (params.parts > 1u) {
    let all_here = same_for_all(local, publish_collected(local, number, count));
    if (all_here == 0u) { return; }
    count = 0u;
    if (all_here > 1u) { count = consume_all(local, number); }
    if (local == 0u) { end_meeting(number); }
    room = params.meeting_places;
  } else {
    count = same_for_all(local, count);
  }
  if (count > room) { count = refilled(local, sequence, sequence * params.places, bound.pair); }
  if (count > 0u) {
    hold_keys(local);
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
