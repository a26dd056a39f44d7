// The first k pairs of each sequence's list, by counting those before: an invocation places ITEMS.
// source, counts of pairs -> sink
//   IN_ORDER  1 where pairs come in order of index: keys alone tell which are before
#import io/source
#import io/sink
#if SOURCE_PAIRS
#import io/counts
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  // Neighbours place the same items of different sequences, so that their loops are as long.
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let team = id / params.sequences;
  let sequence = id - team * params.sequences;
  let first = team * ITEMS;
  let row = row_of(sequence);
#if SOURCE_PAIRS
  let length = length_of(sequence);
#else
  let length = row.loads;
#endif
  if (first >= length) { return; }
#for i in ITEMS
  var rank$i = 0u;
  let mine$i = load(row, min(first + $iu, length - 1u));
#endfor
#if IN_ORDER
  for (var at = 0u; at < first; at++) {
    let other = load(row, at).key;
#for i in ITEMS
    rank$i += select(1u, 0u, key_less(mine$i.key, other));
#endfor
  }
  // Of its own with equal keys, those before.
  for (var at = first; at < min(first + ITEMS, length); at++) {
    let other = load(row, at).key;
#for i in ITEMS
    rank$i += select(0u, 1u, key_less(other, mine$i.key) | (key_equal(other, mine$i.key) & (at < first + $iu)));
#endfor
  }
  for (var at = first + ITEMS; at < length; at++) {
    let other = load(row, at).key;
#for i in ITEMS
    rank$i += select(0u, 1u, key_less(other, mine$i.key));
#endfor
  }
#else
  for (var at = 0u; at < length; at++) {
    let other = load(row, at);
#for i in ITEMS
    rank$i += select(0u, 1u, before(other, mine$i));
#endfor
  }
#endif
#for i in ITEMS
  if ((first + $iu < length) & (rank$i < params.k)) { put(sequence, rank$i, mine$i); }
#endfor
}
