// The first k pairs of every part of every sequence, in order: source (bindings 1 to 3) -> sink (4, 5), reading once and a little.
//
// A team of TEAM invocations serves one part. Its items fall into GROUPS strided subsets; the best pair of each is its delegate.
// The first k pairs lie in the k subsets whose delegates come first, and none of them comes after the last of those delegates.
// So: find the delegates (one read), rank them by counting, read those k subsets again keeping what does not come after the
// threshold, and sort the few that are left. Exact for every input, since no two pairs are equal; needs k <= GROUPS.
// When more than CAPACITY are left (data that conspires with the stride), the second read runs again in steps, trimming the list
// to its first k whenever it is full.
#import source
#import sink

const TEAMS: u32 = WORKGROUP / TEAM;

#import bitonic

// A few candidates are ranked by counting those before each; more are sorted.
const FEW: u32 = 2u * TEAM;

var<workgroup> delegate_keys: array<Key, WORKGROUP>;
var<workgroup> delegate_indices: array<u32, WORKGROUP>;
var<workgroup> places: array<atomic<u32>, WORKGROUP>;
var<workgroup> winners: array<u32, WORKGROUP>;
var<workgroup> threshold_keys: array<Key, TEAMS>;
var<workgroup> threshold_indices: array<u32, TEAMS>;
var<workgroup> counts: array<atomic<u32>, TEAMS>;
var<workgroup> most: atomic<u32>;
var<workgroup> shared_most: u32;
var<workgroup> pending_steps: atomic<u32>;
var<workgroup> shared_pending: u32;

// The largest of the teams' numbers, known to every invocation alike.
fn workgroup_max(local: u32, mine: u32) -> u32 {
  workgroupBarrier();
  if (local == 0u) { atomicStore(&most, 0u); }
  workgroupBarrier();
  atomicMax(&most, mine);
  workgroupBarrier();
  if (local == 0u) { shared_most = atomicLoad(&most); }
  return workgroupUniformLoad(&shared_most);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let slot = local / TEAM;
  let lane = local % TEAM;
  let team = linear_workgroup(workgroup, grid) * TEAMS + slot;
  let sequence = team / params.split;
  let part = team % params.split;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  // Contiguous parts, so that neighbouring invocations read neighbouring memory and parts share nothing.
  let chunk = (row.loads + params.split - 1u) / params.split;
  let begin = min(part * chunk, row.loads);
  let end = select(begin, min(begin + chunk, row.loads), live);

  // 1. The delegate of each invocation's subset, then of each group's.
  var best = last_pair();
  var q = begin + lane;
  for (; q + (UNROLL - 1u) * TEAM < end; q += UNROLL * TEAM) {
#for u in UNROLL
    let v$u = load_of(row, q + $uu * TEAM);
    let data$u = load(row, v$u);
#endfor
#for u in UNROLL
#for c in PER_LOAD
    { let candidate = item(row, v$u, data$u, $cu); if (before(candidate, best)) { best = candidate; } }
#endfor
#endfor
  }
  for (; q < end; q += TEAM) {
    let v = load_of(row, q);
    let data = load(row, v);
#for c in PER_LOAD
    { let candidate = item(row, v, data, $cu); if (before(candidate, best)) { best = candidate; } }
#endfor
  }
  delegate_keys[local] = best.key;
  delegate_indices[local] = best.index;
  atomicStore(&places[local], 0u);
  if (lane == 0u) { atomicStore(&counts[slot], 0u); }
  for (var reach = TEAM / 2u; reach >= GROUPS; reach /= 2u) {
    workgroupBarrier();
    if (lane < reach) {
      let other = Pair(delegate_keys[local + reach], delegate_indices[local + reach]);
      if (before(other, best)) {
        best = other;
        delegate_keys[local] = other.key;
        delegate_indices[local] = other.index;
      }
    }
  }
  workgroupBarrier();

  // 2. The rank of each delegate: how many come before it (equal only where both are empty: then by place). The invocations
  // beyond the groups share the counting.
  let home = slot * TEAM;
  let group = lane % GROUPS;
  {
    let mine = Pair(delegate_keys[home + group], delegate_indices[home + group]);
    let slice = lane / GROUPS;
    var place = 0u;
    for (var j = slice; j < GROUPS; j += TEAM / GROUPS) {
      let other = Pair(delegate_keys[home + j], delegate_indices[home + j]);
      let tie = other.index == mine.index && key_equal(other.key, mine.key);
      place += select(0u, 1u, before(other, mine) || (tie && j < group));
    }
    atomicAdd(&places[home + group], place);
  }
  workgroupBarrier();
  if (lane < GROUPS) {
    let place = atomicLoad(&places[local]);
    if (place < params.k) { winners[home + place] = lane; }
    if (place == params.k - 1u) {
      threshold_keys[slot] = delegate_keys[local];
      threshold_indices[slot] = delegate_indices[local];
    }
  }
  workgroupBarrier();

  // 3. The winning groups' items that do not come after the threshold.
  var threshold = Pair(threshold_keys[slot], threshold_indices[slot]);
  let members = (end - begin + GROUPS - 1u) / GROUPS;
  let again = params.k * members;
  for (var w = lane; w < again; w += TEAM) {
    let at = begin + winners[home + w % params.k] + w / params.k * GROUPS;
    if (at < end) {
      let v = load_of(row, at);
      let data = load(row, v);
#for c in PER_LOAD
      {
        let candidate = item(row, v, data, $cu);
        if (candidate.index != NO_INDEX && !before(threshold, candidate)) {
          let place = atomicAdd(&counts[slot], 1u);
          if (place < CAPACITY) { list_set(slot * CAPACITY + place, candidate); }
        }
      }
#endfor
    }
  }
  workgroupBarrier();
  var count = atomicLoad(&counts[slot]);
  var largest = workgroup_max(local, count);

  if (largest > CAPACITY) {
    // 3b. Too many: again, in steps of one load, trimming each full list to its first k.
    workgroupBarrier();
    if (lane == 0u) { atomicStore(&counts[slot], 0u); }
    let steps = (workgroup_max(local, again) + TEAM - 1u) / TEAM;
    for (var step = 0u; step < steps; step++) {
      let w = step * TEAM + lane;
      var at = end;
      if (w < again) { at = begin + winners[home + w % params.k] + w / params.k * GROUPS; }
      let v = load_of(row, min(at, row.loads - 1u));
      let data = load(row, v);
      var pending = select(0u, (1u << PER_LOAD) - 1u, at < end);
      loop {
#for c in PER_LOAD
        if ((pending & (1u << $cu)) != 0u) {
          let candidate = item(row, v, data, $cu);
          if (candidate.index == NO_INDEX || before(threshold, candidate)) {
            pending &= ~(1u << $cu);
          } else {
            let place = atomicAdd(&counts[slot], 1u);
            if (place < CAPACITY) {
              list_set(slot * CAPACITY + place, candidate);
              pending &= ~(1u << $cu);
            }
          }
        }
#endfor
        workgroupBarrier();
        let filled = min(atomicLoad(&counts[slot]), CAPACITY);
        let unsettled = workgroup_max(local, select(0u, 1u, pending != 0u));
        if (unsettled == 0u) {
          workgroupBarrier();
          if (lane == 0u) { atomicStore(&counts[slot], filled); }
          workgroupBarrier();
          break;
        }
        // Trim every team's list: sort it, keep the first k, take the k-th as the threshold.
        for (var t = filled + lane; t < CAPACITY; t += TEAM) { list_set(slot * CAPACITY + t, last_pair()); }
        sort_lists(local, CAPACITY);
        let kept = min(filled, params.k);
        if (kept == params.k) { threshold = list_get(slot * CAPACITY + params.k - 1u); }
        if (lane == 0u) { atomicStore(&counts[slot], kept); }
        workgroupBarrier();
      }
    }
    count = atomicLoad(&counts[slot]);
    largest = workgroup_max(local, count);
  }

  // 4. In order, to the sink; a part with fewer than k items fills up with nothing.
  if (largest <= FEW) {
    for (var c = lane; c < count; c += TEAM) {
      let mine = list_get(slot * CAPACITY + c);
      var place = 0u;
      for (var j = 0u; j < count; j++) {
        place += select(0u, 1u, before(list_get(slot * CAPACITY + j), mine));
      }
      if (place < params.k && live) { put(sequence, part * params.k + place, mine); }
    }
  } else {
    var size = 1u;
    while (size < largest) { size *= 2u; }
    for (var t = count + lane; t < size; t += TEAM) { list_set(slot * CAPACITY + t, last_pair()); }
    sort_lists(local, size);
    for (var place = lane; place < min(count, params.k); place += TEAM) {
      if (live) { put(sequence, part * params.k + place, list_get(slot * CAPACITY + place)); }
    }
  }
#if SINK_PAIRS
  for (var place = count + lane; place < params.k; place += TEAM) {
    if (live) { put(sequence, part * params.k + place, last_pair()); }
  }
#endif
}
