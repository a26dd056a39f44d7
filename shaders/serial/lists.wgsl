// The first k of each short sequence, in order: source -> pairs (sink_keys, sink_indices). An
// invocation serves a sequence, and keeps a sorted list in registers.
//   K  places of the list, at least k
#import io/subsets
#import io/sink

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
#for i in K
  var best$i = last_pair();
#endfor
  for (var v = 0u; v < row.loads; v++) {
    let data = load(row, v);
    var passing = 0u;  // a bit an item
#for c in PER_LOAD
    passing |= select(0u, 1u << $cu, before(item(row, v, data, $cu), best$[K - 1]));
#endfor
    // A loop, not a branch: such a machine runs what stands in a branch, taken or not.
    for (; passing > 0u; passing &= passing - 1u) {
      var next = item(row, v, data, firstTrailingBit(passing));
#for i in K
      {
        let one = best$i;
        let wins = before(next, one);
        best$i = Pair(select(one.key, next.key, wins), select(one.index, next.index, wins));
        next = Pair(select(next.key, one.key, wins), select(next.index, one.index, wins));
      }
#endfor
    }
  }
  let to = target_of(sequence);
#for i in K
  put_to(to, min($iu, params.k), best$i);
#endfor
}
