// How often each digit occurs in each tile of a serial radix sort, in `tile_counts`. Once they are summed up: in earlier tiles, and behind
// the last one in all of them.
#import io/params

const BINS: u32 = 256u;

@group(0) @binding(7) var<storage, read_write> tile_counts: array<u32>;  // [sequence][digit][tile]

fn count_at(sequence: u32, digit: u32, tile: u32) -> u32 { return (sequence * BINS + digit) * (params.groups + 1u) + tile; }
