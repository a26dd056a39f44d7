// Which items of a load are up to a threshold: of rows mostly by keys alone, which takes few
// operations.
#import io/source
#if SOURCE_ROWS
#import order/loose

// Loads are in order of index. So in loads before the one with the threshold's index keys up to
// `last` are near, and in later ones keys up to `earlier`.
struct Limit {
  threshold: Pair,
  load: u32,       // The one with the threshold's index, or row.loads where that is NO_INDEX.
  loads: u32,      // Loads from here on have nothing near.
  end_whole: u32,  // Loads from here on are not whole, or have nothing near.
  last: Loose,
  earlier: Loose,
}

fn limit_of(row: Row, threshold: Pair) -> Limit {
  var load = row.loads;
  if (threshold.index != NO_INDEX) { load = load_of(row, threshold.index); }
  let key = threshold.key & LAST_OF_ELEMENTS;  // without bits that no element's key has
  let first = loose_first(key);
  // Nothing comes before the first of all keys, so that no load is compared with `earlier`.
  let loads = select(min(load + 1u, row.loads), row.loads, key_less(Loose(0u), first));
  return Limit(threshold, load, loads, min(loads, end_whole(row)), loose_last(key), key_before(first));
}

// Whether keys alone tell of a load's items: not at a sequence's ends, nor beside the threshold.
fn keys_tell(row: Row, v: u32, limit: Limit) -> bool { return (first_whole(row) <= v) & (v < limit.end_whole) & (v != limit.load); }

// A bit for each item that is near, or, where keys do not tell, may be.
fn near_by_keys(v: u32, data: Load, limit: Limit, tell: bool) -> u32 {
  let last = select(limit.last, limit.earlier, tell & (v > limit.load));
  var near = 0u;
#for c in PER_LOAD
  near |= select($[1 << c]u, 0u, key_less(last, loose_of(bits_of(data, $cu))));
#endfor
  return near;
}
#else

struct Limit { threshold: Pair, loads: u32 }

fn limit_of(row: Row, threshold: Pair) -> Limit { return Limit(threshold, row.loads); }
fn keys_tell(row: Row, v: u32, limit: Limit) -> bool { return true; }
fn near_by_keys(v: u32, data: Load, limit: Limit, tell: bool) -> u32 {
  return select(0u, 1u, passes(limit.threshold, data));
}
#endif

fn is_near(row: Row, v: u32, data: Load, c: u32, limit: Limit) -> bool {
  let pair = item(row, v, data, c);
  return passes(limit.threshold, pair);
}

// A bit for each item that is near.
fn near_in(row: Row, v: u32, data: Load, limit: Limit) -> u32 {
  if (v >= limit.loads) { return 0u; }
  let tell = keys_tell(row, v, limit);
  var near = near_by_keys(v, data, limit, tell);
  for (var rest = select(near, 0u, tell); rest != 0u; rest &= rest - 1u) {
    if (!is_near(row, v, data, firstTrailingBit(rest), limit)) { near ^= rest & (~rest + 1u); }
  }
  return near;
}

// The item at a place, counted from the first load's first item: read again, which the cache has.
fn near_pair(row: Row, place: u32) -> Pair {
#if SOURCE_ROWS
  return pair_there(row, place, key_there(row, place));
#else
  return item(row, place, load(row, place), 0u);
#endif
}
