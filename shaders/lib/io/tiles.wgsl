// The tile of a sequence that an invocation has to itself, and the first of what it reads there.
//   params.tile  items, or loads, of a tile
#import io/params

struct Tile { sequence: u32, number: u32, first: u32, live: bool }

fn tile_of(id: u32) -> Tile {
  let sequence = id / params.tiles;
  let number = id - sequence * params.tiles;
  return Tile(sequence, number, number * params.tile, sequence < params.sequences);
}

// Where it ends, in a sequence of so many.
fn end_of_tile(tile: Tile, length: u32) -> u32 { return min(tile.first + params.tile, length); }
