// A sequence's pair at a position, by a read of its own.
#import io/source

// The pair at a position below params.length; nothing where the sequence has fewer.
fn pair_within(row: Row, position: u32) -> Pair {
#if SOURCE_PAIRS
#if COUNTED
  if (position >= row.loads) { return last_pair(); }
#endif
  return load(row, position);
#else
#if SOURCE_ROWS
  let pair = pair_in(row.span, position, position, key_there(row, row.skew + position));
  return select_pair(last_pair(), pair, position < items_of(row));
#else
  return item(row, position, load(row, position), 0u);
#endif
#endif
}

// The pair at a position of the sequence, or nothing past its end.
fn pair_at(row: Row, position: u32) -> Pair {
  if (position >= items_of(row)) { return last_pair(); }
  return pair_within(row, position);
}
