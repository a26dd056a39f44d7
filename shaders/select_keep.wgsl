// Radix select, the end: lists the pairs that do not come after the threshold, in any order: source (1 to 3), histogram (6),
// progress (7) -> list (4, 5), counts (8). They are sorted next.
//   ROOM  pairs that a workgroup collects before it asks for places in the list; those beyond ask one by one
#import passing
#import sink
#import digits

var<workgroup> collected: array<Stored, ROOM>;
var<workgroup> collected_count: atomic<u32>;
var<workgroup> first_place: u32;

fn reserve(sequence: u32, places: u32) -> u32 { return atomicAdd(&collected_count, places); }

fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (place < ROOM) {
    collected[place] = store_of(pair);
  } else {
    let alone = atomicAdd(&listed[count_at(sequence)], 1u);
    if (alone < params.rank_count) { put(sequence, alone, pair); }
  }
}

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
  let run = run_of(part, local, row.loads);
  let end = select(0u, run.y, live);
  for (var q = run.x; q < end; q += 4u * run.z) {
#for u in 4
    let q$u = q + $uu * run.z;
    let v$u = min(q$u, row.loads - 1u);
    let data$u = load(row, v$u);
#endfor
#for u in 4
    if (q$u < end) { list_passing(sequence, row, v$u, data$u, threshold); }
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
