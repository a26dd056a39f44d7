// Serial radix sort, step 1 of 3: counts each digit of an invocation's tile: source -> tile_counts.
#import io/digits
#import io/serial_counts

var<workgroup> bins: array<u32, BINS * WORKGROUP>;  // [digit][invocation]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (id / params.tiles >= params.sequences) { return; }
  let sequence = id / params.tiles;
  let tile = id % params.tiles;
  let row = row_of(sequence);
  let first = tile * params.tile;
  let count = min(params.tile, params.length - first);
  for (var b = 0u; b < BINS; b++) { bins[b * WORKGROUP + local] = 0u; }
  for (var i = 0u; i < count; i++) { bins[digit_at(row, first + i) * WORKGROUP + local] += 1u; }
  for (var b = 0u; b < BINS; b++) { tile_counts[count_at(sequence, b, params.first_tile + tile)] = bins[b * WORKGROUP + local]; }
}
