// Radix select, the end: lists the pairs that do not come after the threshold, in any order: source (1 to 3), histogram (6),
// progress (7) -> list (4, 5), counts (8). They are sorted next.
//   ROOM  pairs that a workgroup collects before it asks for places in the list; those beyond ask one by one
#import source
#import sink
#import digits

var<workgroup> collected: array<Stored, ROOM>;
var<workgroup> collected_count: atomic<u32>;
var<workgroup> first_place: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id / params.split, params.sequences - 1u);
  let part = id % params.split;
  let live = id / params.split < params.sequences;
#if FALLBACK
  if (is_listed(local, sequence)) { return; }
#endif
  if (local == 0u) { atomicStore(&collected_count, 0u); }
  let threshold = threshold_of(resolve(local, sequence, false));
  workgroupBarrier();
  let row = row_of(sequence);
  let stride = params.split * WORKGROUP;
  for (var q = part * WORKGROUP + local; q < select(0u, row.loads, live); q += 4u * stride) {
#for u in 4
    let q$u = q + $uu * stride;
    let v$u = min(q$u, row.loads - 1u);
    let data$u = load(row, v$u);
#endfor
#for u in 4
    if (q$u < row.loads) {
#for c in PER_LOAD
      {
        let candidate = item(row, v$u, data$u, $cu);
        if (!before(threshold, candidate) && candidate.index != NO_INDEX) {
          let place = atomicAdd(&collected_count, 1u);
          if (place < ROOM) {
            collected[place] = store_of(candidate);
          } else {
            let alone = atomicAdd(&listed[count_at(sequence)], 1u);
            if (alone < params.rank_count) { put(sequence, alone, candidate); }
          }
        }
      }
#endfor
    }
#endfor
  }
  workgroupBarrier();
  let count = min(atomicLoad(&collected_count), ROOM);
  if (local == 0u && count > 0u) { first_place = atomicAdd(&listed[count_at(sequence)], count); }
  workgroupBarrier();
  for (var i = local; i < count; i += WORKGROUP) {
    if (first_place + i < params.rank_count) { put(sequence, first_place + i, pair_of(collected[i])); }
  }
}
