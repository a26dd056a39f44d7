// The key of an item at a place of a row's loads.
#import io/source

// The position of an item is its place less row.skew.
fn is_inside(row: Row, place: u32) -> bool { return place - row.skew < items_of(row); }

// The key of an item of a load; the last one for what is not the sequence's, and of those that
// elements have for what does not take part.
fn key_at(row: Row, place: u32, data: Load, c: u32) -> Key {
  let last = select(LAST_KEY, LAST_OF_ELEMENTS, (RAGGED > 0u) & is_inside(row, place));
  return select(last, key_in(data, c), place - row.skew < real_items(row));
}
