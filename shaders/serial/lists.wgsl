// The first k of each short sequence, in order: source -> pairs (sink_keys, sink_indices).
//
// An invocation serves a sequence, and keeps a sorted list in registers. Items come in the order of
// their indices, so an item goes behind all of the list whose keys are not greater. Of the last key
// only the index tells an item from nothing.
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
    let full = best$[K - 1].index != NO_INDEX;
#for c in PER_LOAD
    let item$c = item(row, v, data, $cu);
    let precedes$c = key_less(item$c.key, best$[K - 1].key) | !full;
    passing |= select(0u, 1u << $cu, precedes$c & (item$c.index != NO_INDEX));
#endfor
    // A loop, not a branch: such a machine runs what stands in a branch, taken or not.
    for (; passing > 0u; passing &= passing - 1u) {
      let next = item(row, v, data, firstTrailingBit(passing));
#for i in K
      let later$i = key_less(next.key, best$i.key) | (best$i.index == NO_INDEX);
#endfor
      var above = next;
      var shifts = false;
#for i in K
      {
        let own = best$i;
        let key = select(next.key, above.key, shifts);
        let index = select(next.index, above.index, shifts);
        best$i = Pair(select(own.key, key, later$i), select(own.index, index, later$i));
        above = own;
        shifts = later$i;
      }
#endfor
    }
  }
  let to = target_of(sequence);
#for i in K
  put_to(to, min($iu, params.k), best$i);
#endfor
}
