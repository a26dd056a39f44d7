// Counts of digits in each tile of a serial radix sort, in `tile_counts`. The scan turns them into
// counts in earlier tiles, with the totals behind the last tile.
#import io/tiles

const BINS: u32 = 256u;

@group(0) @binding(7) var<storage, read_write> tile_counts: array<u32>;  // [sequence][digit][tile]

fn count_at(sequence: u32, digit: u32, tile: u32) -> u32 { return (sequence * BINS + digit) * (params.groups + 1u) + tile; }
