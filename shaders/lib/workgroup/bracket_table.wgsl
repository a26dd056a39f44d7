// The keys of many brackets, in workgroup memory: a binary search for each item.
//   EDGES       places for first keys, a power of two over BRACKETS; EDGE_STEPS is its logarithm

var<workgroup> edges: array<Key, EDGES>;            // the first keys; others are behind the last
var<workgroup> ends: array<Key, BRACKETS>;          // the last keys
var<workgroup> classes: array<atomic<u32>, EDGES>;  // items by the first keys up to theirs

fn begin_keys(local: u32, sequence: u32) {
  if (local < EDGES) {
    edges[local] = LAST_KEY;
    atomicStore(&classes[local], 0u);
  }
  if (local < BRACKETS) {
    edges[local] = end_of(sequence, 2u * local).key;
    ends[local] = end_of(sequence, 2u * local + 1u).key;
  }
}

// How many first keys are up to a key.
fn class_of(key: Key) -> u32 {
  var earlier = 0u;
#for s in EDGE_STEPS
  earlier += select($[EDGES >> (s + 1)]u, 0u, key_less(key, edges[earlier + $[(EDGES >> (s + 1)) - 1]u]));
#endfor
  return min(earlier, BRACKETS);
}

// The bracket that has a key.
fn bracket_of(key: Key) -> u32 { return class_of(key) - 1u; }

// Counts a key. Whether any bracket has it.
fn count_among(key: Key) -> bool {
  let earlier = class_of(key);
  atomicAdd(&classes[earlier], 1u);
  return earlier > 0u && !key_less(ends[max(earlier, 1u) - 1u], key);
}

// Adds what the workgroup has counted to the sums. All of it together, before a barrier.
fn add_counts(local: u32) {
  workgroupBarrier();
  for (var c = 0u; c <= local && local < BRACKETS; c++) { atomicAdd(&sums[local], atomicLoad(&classes[c])); }
}
