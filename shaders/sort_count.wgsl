// Radix sort, step 1 of 3: how often each digit occurs in each tile: source (bindings 1 to 3) -> counts (6).
#import source
#import radix

var<workgroup> bins: array<atomic<u32>, BINS>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = id / params.members;
  let tile = id % params.members;
  let live = sequence < params.sequences;
  for (var b = local; b < BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
  workgroupBarrier();
  if (live) {
    let row = row_of(sequence);
    for (var i = 0u; i < TILE; i += WORKGROUP) {
      let pair = pair_at(row, tile * TILE + i + local);
      if (pair.index != NO_INDEX) { atomicAdd(&bins[digit_of(pair)], 1u); }
    }
  }
  workgroupBarrier();
  if (live) {
    for (var b = local; b < BINS; b += WORKGROUP) {
      counts[(sequence * BINS + b) * params.split + params.tile_base + tile] = atomicLoad(&bins[b]);
    }
  }
}
