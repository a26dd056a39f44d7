// The keys of a register tile, all loads of an invocation. Items that are not there have LAST_KEY.
//   LOADS   of an invocation; they are under way at once
//   WHOLE   loads before the WHOLE-th hold the sequence's items alone; the first does not if SKEWED
//   SKEWED  1 where sequences may begin inside loads
#import io/source

alias Keys = array<Key, LOADS * PER_LOAD>;

// The position of a tile's item is its place less row.skew.
fn is_inside(row: Row, place: u32) -> bool { return place - row.skew < items_of(row); }

// The key of a tile's item; the last one for what is not the sequence's, and of those that elements
// have for what does not take part.
fn key_at(row: Row, place: u32, data: Load, c: u32) -> Key {
  let last = select(LAST_KEY, LAST_OF_ELEMENTS, (RAGGED > 0u) & is_inside(row, place));
  return select(last, key_in(data, c), place - row.skew < real_items(row));
}

fn read_keys(row: Row, lane: u32, keys: ptr<function, Keys>) {
#for l in LOADS
#if WHOLE > $l
  let data$l = load(row, $[l * TEAM]u + lane);
#else
  let data$l = load(row, min($[l * TEAM]u + lane, row.loads - 1u));
#endif
#endfor
#for l in LOADS
#for c in PER_LOAD
#if WHOLE > $l && $[l + 1] > SKEWED
  (*keys)[$[l * PER_LOAD + c]] = key_in(data$l, $cu);
#else
  (*keys)[$[l * PER_LOAD + c]] = key_at(row, $[l * TEAM * PER_LOAD + c]u + lane * PER_LOAD, data$l, $cu);
#endif
#endfor
#endfor
}
