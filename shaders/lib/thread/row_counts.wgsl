// Counts of the keys of a register tile, for bisection.
//   KEYS  of an invocation
#import thread/row_keys

// The position of an invocation's item, or more than any where there is none.
fn position_of(row: Row, i: u32, lane: u32) -> u32 {
  return i / PER_LOAD * TEAM * PER_LOAD + i % PER_LOAD + lane * PER_LOAD - row.skew;
}

fn count_before(keys: ptr<function, Keys>, key: Key) -> u32 {
  var count = 0u;
#for i in KEYS
  count += select(0u, 1u, key_less((*keys)[$i], key));
#endfor
  return count;
}

fn count_equal(row: Row, lane: u32, keys: ptr<function, Keys>, key: Key, end: u32) -> u32 {
  var count = 0u;
#for i in KEYS
  count += select(0u, 1u, key_equal((*keys)[$i], key) & (position_of(row, $iu, lane) < end));
#endfor
  return count;
}
