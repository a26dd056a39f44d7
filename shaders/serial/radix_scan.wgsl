// Serial radix sort, step 2 of 3: an invocation sums a digit's counts over a sequence's tiles. The
// running sums take their place, and the total lies behind the last: tile_counts.
#import io/serial_counts

fn run(workgroup: u32, local: u32) {
  let line = workgroup * WORKGROUP + local;
  if (line >= params.sequences * BINS) { return; }
  var sum = 0u;
  for (var tile = 0u; tile <= params.groups; tile++) {
    let at = line * (params.groups + 1u) + tile;
    let count = tile_counts[at];  // what lies behind the last tile is overwritten unread
    tile_counts[at] = sum;
    sum += count;
  }
}
