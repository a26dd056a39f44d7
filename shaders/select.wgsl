// The first k pairs of every part of every sequence, in order: source (bindings 1 to 3) -> sink (4, 5), reading once and a little.
//
// A team of TEAM invocations serves one part. Its items fall into TEAM strided subsets; the best pair of each is its delegate, and the
// best of every TEAM / GROUPS delegates a group's. The k-th of the GROUPS bests is a threshold: the first k pairs do not come after
// it, nor do the delegates of the subsets that they lie in. So: find the delegates (one read), the threshold by counting, read the
// subsets again whose delegates do not come after it, keeping what does not either, and sort the few that are left. Exact for every
// input, since no two pairs are equal; needs k <= GROUPS. When more than CAPACITY are left (data that conspires with the stride),
// the second read runs again in steps, trimming the list to its first k whenever it is full.
// A delegate that is a pair itself is listed as it is, and its subset not read again, where its second key tells that no other of the
// subset's items can come before the threshold.
//   DELEGATED  1 where an earlier dispatch has left the delegates (2, 3) of params.subsets subsets, and their second keys (6)
//   OWN        delegates of an invocation; where it finds them itself, of so many runs of loads, each with subsets of its own
//   AGAIN      loads under way at once where subsets are read again
//   ALTERNATE  1 where sequences lie side by side, so that neighbouring invocations serve neighbouring teams; 0 where they share one
#import best
#import sink

const TEAMS: u32 = WORKGROUP / TEAM;

#if ALTERNATE
fn slot_of(local: u32) -> u32 { return local % TEAMS; }
fn lane_of(local: u32) -> u32 { return local / TEAMS; }
fn local_of(slot: u32, lane: u32) -> u32 { return lane * TEAMS + slot; }
#else
fn slot_of(local: u32) -> u32 { return local / TEAM; }
fn lane_of(local: u32) -> u32 { return local % TEAM; }
fn local_of(slot: u32, lane: u32) -> u32 { return slot * TEAM + lane; }
#endif

#import bitonic

// As many candidates as invocations are ranked by counting those before each; more are sorted.
const FEW: u32 = min(TEAM, CAPACITY);
const SLICES: u32 = TEAM / GROUPS;  // each counts GROUPS / SLICES delegates, AHEAD at a time

#if DELEGATED
@group(0) @binding(2) var<storage, read_write> delegate_keys: array<Key>;
@group(0) @binding(3) var<storage, read_write> delegate_indices: array<u32>;
@group(0) @binding(6) var<storage, read_write> second_keys: array<Key>;  // the least keys of the subsets' other items
#endif

var<workgroup> delegates: array<Stored, WORKGROUP>;
var<workgroup> places: array<atomic<u32>, WORKGROUP>;
var<workgroup> chosen: array<u32, WORKGROUP * OWN>;  // the first positions of subsets
var<workgroup> chosen_counts: array<atomic<u32>, TEAMS>;
var<workgroup> thresholds: array<Stored, TEAMS>;
var<workgroup> counts: array<atomic<u32>, TEAMS>;
#if DELEGATED
var<workgroup> alone_counts: array<atomic<u32>, TEAMS>;
#endif
var<workgroup> most: atomic<u32>;
var<workgroup> shared_most: u32;

// The largest of the teams' numbers, known to every invocation alike; leaves `most` zero, as it must find it.
fn workgroup_max(local: u32, mine: u32) -> u32 {
  atomicMax(&most, mine);
  workgroupBarrier();
  if (local == 0u) {
    shared_most = atomicLoad(&most);
    atomicStore(&most, 0u);
  }
  return workgroupUniformLoad(&shared_most);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let slot = slot_of(local);
  let lane = lane_of(local);
  let home = slot * TEAM * OWN;  // of the chosen
  let team = linear_workgroup(workgroup, grid) * TEAMS + slot;
  let sequence = team / params.split;
  let part = team % params.split;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  // Contiguous parts, so that neighbouring invocations read neighbouring memory and parts share nothing.
  let chunk = (row.loads + params.split - 1u) / params.split;
  let begin = min(part * chunk, row.loads);
  let end = select(begin, min(begin + chunk, row.loads), live);

  // 1. The delegate of each invocation's subset, then the best of each group.
#if DELEGATED
  let stride = params.subsets;
  let members = params.members;
  let first = params.source_base + sequence * params.source_step;
#for d in OWN
  var own$d = last_pair();
  var next$d = last_pair();  // that none of the subset's other items comes before
  if (live && lane + $du * TEAM < params.subsets) {
    let at = first + (lane + $du * TEAM) * params.source_item_step;
    own$d = Pair(delegate_keys[at], delegate_indices[at]);
    let second = second_keys[at];
    next$d = Pair(second, select(0u, own$d.index + stride, key_equal(second, own$d.key)));
  }
#endfor
#else
  let stride = TEAM;
  let members = (end - begin + OWN * stride - 1u) / (OWN * stride);
#if OWN > 1
  // A loop, as the scan would be a lot of code to repeat.
  var owns: array<Pair, OWN>;
  for (var d = 0u; d < OWN; d++) {
    let run = begin + d * members * stride;
    owns[d] = delegate_of(row, scan_loads(row, run + lane, min(run + members * stride, end), stride));
  }
#for d in OWN
  let own$d = owns[$d];
#endfor
#else
  let own0 = delegate_of(row, scan_loads(row, begin + lane, end, stride));
#endif
#endif
  var best = own0;
#for d in OWN
  if (before(own$d, best)) { best = own$d; }
#endfor
  delegates[local] = store_of(best);
  atomicStore(&places[local], 0u);
  if (local == 0u) { atomicStore(&most, 0u); }
  if (lane == 0u) {
    atomicStore(&chosen_counts[slot], 0u);
    atomicStore(&counts[slot], 0u);
#if DELEGATED
    atomicStore(&alone_counts[slot], 0u);
#endif
    thresholds[slot] = store_of(last_pair());
  }
  for (var reach = TEAM / 2u; reach >= GROUPS; reach /= 2u) {
    workgroupBarrier();
    if (lane < reach) {
      let other = pair_of(delegates[local_of(slot, lane + reach)]);
      if (before(other, best)) {
        best = other;
        delegates[local] = store_of(best);
      }
    }
  }
  workgroupBarrier();

  // 2. The rank of each group's best: how many come before it. The invocations beyond the groups share the counting.
  let group = lane % GROUPS;
  {
    let mine = pair_of(delegates[local_of(slot, group)]);
    var place = 0u;
    for (var j = lane / GROUPS; j < GROUPS; j += AHEAD * SLICES) {
#for u in AHEAD
      let other$u = delegates[local_of(slot, j + $uu * SLICES)];
#endfor
#for u in AHEAD
      place += select(0u, 1u, before(pair_of(other$u), mine));
#endfor
    }
#if TEAM > GROUPS
    atomicAdd(&places[local_of(slot, group)], place);
    workgroupBarrier();
    place = atomicLoad(&places[local_of(slot, group)]);
#endif
    // Of several that are nothing, and so share a place, any will do.
    if (lane < GROUPS && place == params.k - 1u) { thresholds[slot] = store_of(mine); }
  }
  workgroupBarrier();

  // 3. The items of the chosen subsets that do not come after the threshold.
  var threshold = pair_of(thresholds[slot]);
#for d in OWN
  if (own$d.index != NO_INDEX && !before(threshold, own$d)) {
    var again$d = true;
#if DELEGATED
    if (before(threshold, next$d)) {
      let place = atomicAdd(&alone_counts[slot], 1u);
      again$d = place >= CAPACITY;
      if (!again$d) { list[slot * CAPACITY + place] = store_of(own$d); }
    }
#endif
    if (again$d) {
      let subset = lane + $du * TEAM;
      chosen[home + atomicAdd(&chosen_counts[slot], 1u)] = begin + subset / stride * members * stride + subset % stride;
    }
  }
#endfor
  atomicStore(&places[local], 0u);
  workgroupBarrier();
#if DELEGATED
  let alone = min(atomicLoad(&alone_counts[slot]), CAPACITY);
#else
  const alone = 0u;
#endif
  let choices = atomicLoad(&chosen_counts[slot]);
  let again = choices * members;
  for (var w = lane; w < again; w += AGAIN * TEAM) {
#for u in AGAIN
    let w$u = w + $uu * TEAM;
    let at$u = chosen[home + w$u % choices] + w$u / choices * stride;
    let there$u = w$u < again && at$u < end;
    let v$u = select(begin, at$u, there$u);
    let data$u = load(row, v$u);
#endfor
#for u in AGAIN
    if (there$u) {
#for c in PER_LOAD
      {
        let candidate = item(row, v$u, data$u, $cu);
        if (!before(threshold, candidate) && candidate.index != NO_INDEX) {
          let place = alone + atomicAdd(&counts[slot], 1u);
          if (place < CAPACITY) { list[slot * CAPACITY + place] = store_of(candidate); }
        }
      }
#endfor
    }
#endfor
  }
  workgroupBarrier();
  var count = alone + atomicLoad(&counts[slot]);
#if WORKGROUP > TEAM
  var largest = workgroup_max(local, count);
#else
  if (local == 0u) { shared_most = count; }
  var largest = workgroupUniformLoad(&shared_most);
#endif

  if (largest > CAPACITY) {
    // 3b. Too many: again, in steps of one load, trimming each full list to its first k.
    if (lane == 0u) { atomicStore(&counts[slot], alone); }
    let steps = (workgroup_max(local, again) + TEAM - 1u) / TEAM;
    for (var step = 0u; step < steps; step++) {
      let w = step * TEAM + lane;
      var at = end;
      if (w < again) { at = chosen[home + w % choices] + w / choices * stride; }
      let v = min(at, row.loads - 1u);
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
              list[slot * CAPACITY + place] = store_of(candidate);
              pending &= ~(1u << $cu);
            }
          }
        }
#endfor
        let unsettled = workgroup_max(local, select(0u, 1u, pending != 0u));
        let filled = min(atomicLoad(&counts[slot]), CAPACITY);
        workgroupBarrier();
        if (unsettled == 0u) { break; }
        // Trim every team's list: sort it, keep the first k, take the k-th as the threshold.
        for (var t = filled + lane; t < CAPACITY; t += TEAM) { list[slot * CAPACITY + t] = store_of(last_pair()); }
        sort_lists(local, CAPACITY);
        let kept = min(filled, params.k);
        if (kept == params.k) { threshold = pair_of(list[slot * CAPACITY + params.k - 1u]); }
        if (lane == 0u) { atomicStore(&counts[slot], kept); }
        workgroupBarrier();
      }
    }
    count = atomicLoad(&counts[slot]);
    largest = workgroup_max(local, count);
  }

  // 4. In order, to the sink; a part with fewer than k items fills up with nothing.
  if (largest <= FEW) {
    // The invocations beyond the candidates share the counting.
    var width = 32u;
    while (width < largest) { width *= 2u; }
    width = min(width, TEAM);
    let c = lane % width;
    let mine = pair_of(list[slot * CAPACITY + min(c, CAPACITY - 1u)]);
    let step = TEAM / width;
    var place = 0u;
    for (var j = lane / width; j < count; j += 4u * step) {
#for u in 4
      let j$u = j + $uu * step;
      let other$u = list[slot * CAPACITY + min(j$u, CAPACITY - 1u)];
#endfor
#for u in 4
      place += select(0u, 1u, j$u < count && before(pair_of(other$u), mine));
#endfor
    }
    if (step > 1u) {
      atomicAdd(&places[local_of(slot, c)], place);
      workgroupBarrier();
      place = atomicLoad(&places[local_of(slot, c)]);
    }
    if (lane < count && place < params.k && live) { put(sequence, part * params.k + place, mine); }
  } else {
    var size = 1u;
    while (size < largest) { size *= 2u; }
    for (var t = count + lane; t < size; t += TEAM) { list[slot * CAPACITY + t] = store_of(last_pair()); }
    sort_lists(local, size);
    for (var place = lane; place < min(count, params.k); place += TEAM) {
      if (live) { put(sequence, part * params.k + place, pair_of(list[slot * CAPACITY + place])); }
    }
  }
#if SINK_PAIRS
  for (var place = count + lane; place < params.k; place += TEAM) {
    if (live) { put(sequence, part * params.k + place, last_pair()); }
  }
#endif
}
