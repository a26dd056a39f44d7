// Counts of digits in each tile of a serial radix sort, in `tile_counts`. The scan turns them into
// counts in earlier tiles, with the totals behind the last tile.
#import io/params

const BINS: u32 = 256u;

@group(0) @binding(7) var<storage, read_write> tile_counts: array<u32>;  // [sequence][digit][tile]

fn count_at(sequence: u32, digit: u32, tile: u32) -> u32 { return (sequence * BINS + digit) * (params.groups + 1u) + tile; }

// The tile of a sequence that an invocation has to itself: its first item, and how many.
struct Tile { sequence: u32, number: u32, first: u32, count: u32, live: bool }

fn tile_of(id: u32) -> Tile {
  let sequence = id / params.tiles;
  let number = id % params.tiles;
  let first = number * params.tile;
  return Tile(sequence, number, first, min(params.tile, params.length - first), sequence < params.sequences);
}
