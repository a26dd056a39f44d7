// Lists of candidates that do not exceed their room, and where ITEMS > 0 or SORTS their first k pairs in order: input (binding 1), delegates
// (2, 3), counts (6), lists and thresholds (7, 8) -> sink (4, 5) where these are in order, else lists (7, 8) and their lengths (4).
//
// Lists of up to params.rank_count pairs are left as they are. Longer ones are cut to that, or to k; where there were too many pairs to be
// listed, the subsets are read once more. One workgroup does that, and as many as a list has blocks put it in order.
//   CAPACITY, EACH  places of a list, and those of each invocation
//   STEP            invocations that read a load each between two looks at the room that is left
//   ITEMS           pairs that a workgroup ranks; 0 where they are not ranked here
//   SORTS           1 where the workgroup puts its list in order, of up to LONGEST pairs, in its memory
#import source
#import subsets
#import kth
#if ITEMS > 0
#import rank
#else
#if SORTS
#import sort_list
#import sink
#else
@group(0) @binding(4) var<storage, read_write> lengths: array<u32>;  // [sequence]
#endif
#endif

@group(0) @binding(7) var<storage, read_write> list_keys: array<Key>;     // [sequence][CAPACITY], then a threshold a sequence
@group(0) @binding(8) var<storage, read_write> list_indices: array<u32>;

// A longer list has no room for another step.
const FULL: u32 = CAPACITY - STEP * PER_LOAD;

var<workgroup> chosen: array<u32, WORKGROUP>;
var<workgroup> chosen_count: atomic<u32>;
var<workgroup> filled: atomic<u32>;
var<workgroup> shared_word: u32;
var<workgroup> kept: atomic<u32>;

fn listed(start: u32, at: u32) -> Pair { return Pair(list_keys[start + at], list_indices[start + at]); }

fn enlist(start: u32, at: u32, pair: Pair) {
  list_keys[start + at] = pair.key;
  list_indices[start + at] = pair.index;
}

fn same_for_all(local: u32, word: u32) -> u32 {
  if (local == 0u) { shared_word = word; }
  return workgroupUniformLoad(&shared_word);
}

// Keeps the first k of the list's first `count`, or some more where those are found sooner, at its beginning in any order. Returns a pair
// that none of the first k comes after, nor any that is kept.
fn keep_first(local: u32, start: u32, count: u32) -> Pair {
  var items: Items;
#for i in EACH
  items[$i] = last_pair();
  if ($iu * WORKGROUP + local < count) { items[$i] = listed(start, $iu * WORKGROUP + local); }
#endfor
  let last = kth_of(&items, listed(start, 0u), local, params.k, min(params.rank_count, FULL) - params.k);
  if (local == 0u) { atomicStore(&kept, 0u); }
  storageBarrier();
  workgroupBarrier();
#for i in EACH
  if (items[$i].index != NO_INDEX && !before(last, items[$i])) { enlist(start, atomicAdd(&kept, 1u), items[$i]); }
#endfor
  storageBarrier();
  workgroupBarrier();
  return last;
}

// The list's length once it has the first k pairs and at most params.rank_count. Where more than it has room for should have been listed,
// what was listed is forgotten and the subsets are read once more, a step at a time; a list without room for a step is trimmed first.
fn trimmed(local: u32, sequence: u32, start: u32, wanted: u32) -> u32 {
  let row = row_of(sequence);
  var threshold = listed(threshold_place(sequence), 0u);
  if (local == 0u) { atomicStore(&filled, 0u); }
  // The next subset to look at, the loads of those chosen of the last ones, and how many of these have been read.
  var next = select(0u, params.subsets, wanted <= CAPACITY);
  var count = select(0u, wanted, wanted <= CAPACITY);
  var again = 0u;
  var step = 0u;
  loop {
    let over = step >= again && next >= params.subsets;
    if (count > select(FULL, params.rank_count, over)) {
      threshold = keep_first(local, start, count);
      count = same_for_all(local, atomicLoad(&kept));
      if (local == 0u) { atomicStore(&filled, count); }
      workgroupBarrier();
    }
    if (over) { break; }
    if (step >= again) {
      if (local == 0u) { atomicStore(&chosen_count, 0u); }
      workgroupBarrier();
      let subset = next + local;
      if (subset < params.subsets && !before(threshold, delegate_at(sequence, min(subset, params.subsets - 1u)))) {
        chosen[atomicAdd(&chosen_count, 1u)] = subset;
      }
      workgroupBarrier();
      again = same_for_all(local, atomicLoad(&chosen_count)) * params.members;
      step = 0u;
      next += WORKGROUP;
      continue;
    }
    let w = step + local;
    if (local < STEP && w < again) {
      let v = chosen[w / params.members] + w % params.members * params.subsets;
      if (v < row.loads) {
        let data = load(row, v);
#for c in PER_LOAD
        {
          let candidate = item(row, v, data, $cu);
          if (candidate.index != NO_INDEX && !before(threshold, candidate)) {
            enlist(start, atomicAdd(&filled, 1u), candidate);
          }
        }
#endfor
      }
    }
    step += STEP;
    storageBarrier();
    workgroupBarrier();
    count = same_for_all(local, atomicLoad(&filled));
  }
  return count;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
#if ITEMS > 0
  let blocks = (CAPACITY + ITEMS - 1u) / ITEMS;
#else
  let blocks = 1u;
#endif
  let live = id / blocks < params.sequences;
  let sequence = min(id / blocks, params.sequences - 1u);
  let start = sequence * CAPACITY;
  var count = 0u;
  if (local == 0u && live) { count = atomicLoad(&counts[sequence]); }
  count = same_for_all(local, count);
  let trims = count > params.rank_count;
  if (trims) {
    if (id % blocks > 0u) { return; }
    count = trimmed(local, sequence, start, count);
  }
#if ITEMS > 0
  // Who trimmed a list puts all of it in order.
  let end = select(id % blocks + 1u, (count + ITEMS - 1u) / ITEMS, trims);
  for (var block = id % blocks; block < end; block++) { rank_block(local, sequence, start, count, block); }
#else
#if SORTS
  kth_clear(local);
  for (var at = local; at < count; at += WORKGROUP) { list[at] = store_of(listed(start, at)); }
  workgroupBarrier();
  sort_list(local, count, listed(threshold_place(sequence), 0u));
  if (live) {
    let to = target_of(sequence);
    for (var rank = local; rank < params.k; rank += WORKGROUP) { put_to(to, rank, pair_of(list[rank])); }
  }
#else
  if (local == 0u && live) { lengths[sequence] = count; }
#endif
#endif
}
