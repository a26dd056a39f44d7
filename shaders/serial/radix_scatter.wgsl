// Serial radix sort, step 3 of 3: every pair of a tile to its place: source, tile_counts -> sink.
#import order/digit
#import io/pair_at
#import io/sink
#import io/serial_counts

var<workgroup> next_ranks: array<u32, BINS * WORKGROUP>;  // [digit][invocation]: next pair's rank

fn run(workgroup: u32, local: u32) {
  let tile = tile_of(workgroup * WORKGROUP + local);
  if (!tile.live) { return; }
  let row = row_of(tile.sequence);
  var start = 0u - params.first_rank;
  for (var b = 0u; b < BINS; b++) {
    next_ranks[b * WORKGROUP + local] = start + tile_counts[count_at(tile.sequence, b, params.first_tile + tile.number)];
    start += tile_counts[count_at(tile.sequence, b, params.groups)];
  }
  let to = target_of(tile.sequence);
  for (var i = tile.first; i < end_of_tile(tile, params.length); i++) {
    let pair = pair_within(row, i);
    let digit = digit_of(tile.sequence, pair) * WORKGROUP + local;
    let rank = next_ranks[digit];
    next_ranks[digit] = rank + 1u;
    if (rank < params.ranks) { put_to(to, rank, pair); }
  }
}
