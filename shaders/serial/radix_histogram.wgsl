// Serial radix sort, step 1 of 3: counts each digit of an invocation's tile: source -> tile_counts.
#import io/digits
#import io/serial_counts

var<workgroup> bins: array<u32, BINS * WORKGROUP>;  // [digit][invocation]

fn run(workgroup: u32, local: u32) {
  let tile = tile_of(workgroup * WORKGROUP + local);
  if (!tile.live) { return; }
  let row = row_of(tile.sequence);
  for (var b = 0u; b < BINS; b++) { bins[b * WORKGROUP + local] = 0u; }
  for (var i = tile.first; i < end_of_tile(tile, params.length); i++) { bins[digit_at(tile.sequence, row, i) * WORKGROUP + local] += 1u; }
  let place = params.first_tile + tile.number;
  for (var b = 0u; b < BINS; b++) { tile_counts[count_at(tile.sequence, b, place)] = bins[b * WORKGROUP + local]; }
}
