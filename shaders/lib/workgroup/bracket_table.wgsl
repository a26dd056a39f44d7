// The keys of many brackets, in workgroup memory: a binary search for each item.
//   EDGES       places for first keys, a power of two over BRACKETS; EDGE_STEPS is its logarithm

var<workgroup> edges: array<Loose, EDGES>;            // the first keys; others are behind the last
var<workgroup> ends: array<Loose, BRACKETS>;          // the last keys
var<workgroup> classes: array<atomic<u32>, EDGES>;    // items by the first keys up to theirs

fn begin_keys(local: u32, sequence: u32) {
  if (local < EDGES) {
    edges[local] = loose_last(LAST_KEY);
    atomicStore(&classes[local], 0u);
  }
  if (local < BRACKETS) {
    edges[local] = loose_first(end_of(sequence, 2u * local).key);
    ends[local] = loose_last(end_of(sequence, 2u * local + 1u).key);
  }
}

// How many first keys are up to a loose key.
fn class_of(loose: Loose) -> u32 {
  var earlier = 0u;
#for s in EDGE_STEPS
  earlier += select($[EDGES >> (s + 1)]u, 0u, key_less(loose, edges[earlier + $[(EDGES >> (s + 1)) - 1]u]));
#endfor
  return min(earlier, BRACKETS);
}

// The bracket that has a loose key.
fn bracket_of(loose: Loose) -> u32 { return class_of(loose) - 1u; }

// Counts a loose key. Whether any bracket has it.
fn count_among(loose: Loose) -> bool {
  let earlier = class_of(loose);
  atomicAdd(&classes[earlier], 1u);
  return earlier > 0u && !key_less(ends[max(earlier, 1u) - 1u], loose);
}

// Adds what the workgroup has counted to the sums. All of it together, before a barrier.
fn add_counts(local: u32) {
  workgroupBarrier();
  for (var c = 0u; c <= local && local < BRACKETS; c++) { atomicAdd(&sums[local], atomicLoad(&classes[c])); }
}
