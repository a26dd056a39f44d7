// Which items a running top-k may take: those that come before the last pair that it keeps.
#import io/running
#import order/pair

// The last pair that may be taken. An item whose key is kept already came too late.
struct Bound { any: bool, pair: Pair }

fn bound_of(row: u32) -> Bound {
  // Both loads are under way before the first is used.
  let kept = state[row + 2u];
  let key = key_of(bits_kept(row, params.k - 1u));
  if (kept < params.k) { return Bound(true, last_pair()); }
  if (key_equal(key, Key())) { return Bound(false, Pair(key, 0u)); }
  return Bound(true, Pair(key_before(key), NO_INDEX));
}
