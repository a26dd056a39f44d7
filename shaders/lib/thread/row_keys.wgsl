// The keys of a register tile (lib/io/register_tile.wgsl). Items that are not there have LAST_KEY.
#import io/source

alias Keys = array<Key, LOADS * PER_LOAD>;

// The position of a tile's item is its place less row.skew.
fn is_inside(row: Row, place: u32) -> bool { return place - row.skew < items_of(row); }

// The key of a tile's item; the last one for what is not the sequence's.
fn key_at(row: Row, place: u32, data: Load, c: u32) -> Key {
  return pair_in(row.span, place - row.skew, place - row.skew, key_in(data, c)).key;
}

fn read_keys(row: Row, lane: u32, keys: ptr<function, Keys>) {
#import io/register_tile
#for l in LOADS
#for c in PER_LOAD
#if WHOLE > $l && $[l + 1] > SKEWED
  (*keys)[$[l * PER_LOAD + c]] = key_in(data$l, $cu);
#else
  {
    let place = $[l * TEAM * PER_LOAD + c]u + lane * PER_LOAD;
    (*keys)[$[l * PER_LOAD + c]] = select(LAST_KEY, key_at(row, place, data$l, $cu), is_inside(row, place));
  }
#endif
#endfor
#endfor
}
