// Radix sort, step 1 of 3: how often each digit occurs in each tile: source (bindings 1 to 3) -> counts (6).
// A tile is a workgroup's, or where ALONE an invocation's, which needs no barrier.
#import source
#import radix

#if ALONE

var<workgroup> bins: array<u32, BINS * WORKGROUP>;  // [digit][invocation]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let sequence = id / params.members;
  let tile = id % params.members;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  let start = tile * TILE;
  let count = min(TILE, params.length - start);
  for (var b = local; b < BINS * WORKGROUP; b += WORKGROUP) { bins[b] = 0u; }
  for (var v = first_load(row, start); v < end_load(row, start + count); v++) {
    let data = load(row, v);
#for c in PER_LOAD
    if (v * PER_LOAD + $cu - row.skew - start < count) {
      bins[digit_of(item(row, v, data, $cu)) * WORKGROUP + local] += 1u;
    }
#endfor
  }
  for (var b = 0u; b < BINS; b++) { counts[count_at(sequence, b, tile)] = bins[b * WORKGROUP + local]; }
}

#else

var<workgroup> bins: array<atomic<u32>, BINS>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id / params.members, params.sequences - 1u);
  let tile = id % params.members;
  let live = id / params.members < params.sequences;
  let row = row_of(sequence);
  let start = tile * TILE + local;
  for (var b = local; b < BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
  // All loads are under way before the first is used.
#for i in EACH
  let digit$i = digit_of(pair_at(row, min(start + $iu * WORKGROUP, params.length - 1u)));
#endfor
  workgroupBarrier();
#for i in EACH
  if (start + $iu * WORKGROUP < params.length) { atomicAdd(&bins[digit$i], 1u); }
#endfor
  workgroupBarrier();
  if (live) {
    for (var b = local; b < BINS; b += WORKGROUP) { counts[count_at(sequence, b, tile)] = atomicLoad(&bins[b]); }
  }
}

#endif
