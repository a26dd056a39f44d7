// The first k pairs of every sequence, in order, by its k-th load: elements (binding 1) -> sink (4, 5), reading once.
//
// A workgroup holds a sequence in registers, LOADS loads an invocation, and finds the k-th of their bests by histograms (lib/kth.wgsl), or
// one that up to params.rank_count more do not come after. The first k pairs do not come after it, and what does not is listed in
// workgroup memory and sorted there. A list that would overflow gives a nearer threshold, the k-th of what it holds, and is made again.
//   LOADS     of an invocation (lib/held.wgsl)
//   CAPACITY  of the list, at least 2 k
//   EACH      pairs of an invocation among which the k-th is looked for: its loads' bests, or its part of the list
#import least
#import sink
#import kth
#import merge

var<workgroup> listed: atomic<u32>;
var<workgroup> shared_length: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  let row = row_of(min(sequence, params.sequences - 1u));
  var any = pair_at(row, 0u);

#import held
#import held_leasts
  var items: Items;
#for i in EACH
  items[$i] = last_pair();
#endfor
#for l in LOADS
  // Not the pair itself, but one that no other load's items come between.
  if ($[l * TEAM]u + lane < row.loads) { items[$l] = Pair(least$l, last_index_in(row, $[l * TEAM]u + lane)); }
#endfor

  var length = 0u;
  loop {
    if (lane == 0u) { atomicStore(&listed, 0u); }
    let threshold = kth_of(&items, any, lane, params.k, params.rank_count);
#for l in LOADS
    if (!key_less(threshold.key, least$l)) {
#for c in PER_LOAD
      {
        let pair = item(row, $[l * TEAM]u + lane, data$l, $cu);
        if (pair.index != NO_INDEX && !before(threshold, pair)) {
          let at = atomicAdd(&listed, 1u);
          if (at < CAPACITY) { list[at] = store_of(pair); }
        }
      }
#endfor
    }
#endfor
    workgroupBarrier();
    if (lane == 0u) { shared_length = atomicLoad(&listed); }
    length = workgroupUniformLoad(&shared_length);
    if (length <= CAPACITY) { break; }
    any = pair_of(list[0]);
#for i in EACH
    items[$i] = last_pair();
    if ($[i * TEAM]u + lane < CAPACITY) { items[$i] = pair_of(list[$[i * TEAM]u + lane]); }
#endfor
  }
  sort_list(lane, length);

  if (sequence < params.sequences) {
    let to = target_of(sequence);
    for (var rank = lane; rank < params.k; rank += WORKGROUP) { put_to(to, rank, pair_of(list[rank])); }
  }
}
