// A pair of every sequence that at least k of its pairs do not come after: pairs (bindings 2, 3) -> thresholds (4, 5), zeros (6).
//
// A workgroup serves a sequence. Its pairs fall into EACH * WORKGROUP groups, MERGED in each; the k-th of the groups' bests, or one
// with up to params.rank_count bests between, is the threshold. Neighbours are in different groups.
#import source
#import sink
#import kth

@group(0) @binding(6) var<storage, read_write> counts: array<u32>;  // [sequence]: of the list that is filled next

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id, params.sequences - 1u);
  let row = row_of(sequence);
  var items: Items;
#for m in MERGED
#for i in EACH
  let q$[m]x$i = ($mu * EACH + $iu) * WORKGROUP + local;
  let pair$[m]x$i = item(row, q$[m]x$i, load(row, min(q$[m]x$i, row.loads - 1u)), 0u);
#endfor
#endfor
#for i in EACH
  items[$i] = pair0x$i;
#endfor
#for m in MERGED
#for i in EACH
  if (before(pair$[m]x$i, items[$i])) { items[$i] = pair$[m]x$i; }
#endfor
#endfor
  let found = kth_of(&items, item(row, 0u, load(row, 0u), 0u), local, params.k, params.rank_count);
  if (id < params.sequences && local == 0u) {
    put(sequence, 0u, found);
    counts[sequence] = 0u;
  }
}
