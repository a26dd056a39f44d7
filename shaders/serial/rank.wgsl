// The first k pairs of each sequence's list, by counting those before: an invocation places ITEMS.
// source, counts of pairs -> sink
#import io/source
#import io/sink
#if SOURCE_PAIRS
#import io/counts
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let teams = (params.length + ITEMS - 1u) / ITEMS;
  let sequence = id / teams;
  if (sequence >= params.sequences) { return; }
  let first = (id - sequence * teams) * ITEMS;
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
  for (var at = 0u; at < length; at++) {
    let other = load(row, at);
#for i in ITEMS
    rank$i += select(0u, 1u, before(other, mine$i));
#endfor
  }
#for i in ITEMS
  if ((first + $iu < length) & (rank$i < params.k)) { put(sequence, rank$i, mine$i); }
#endfor
}
