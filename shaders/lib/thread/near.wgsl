// Which items of a load are up to a threshold: of rows mostly by keys alone, which takes few
// operations.
#import io/source
#if SOURCE_ROWS
#import order/loose

// Loads are in order of index. So what has the threshold's key counts before the load with its
// index, and not after it: keys up to `last` are near there, and here keys up to `earlier`, if any.
struct Limit { threshold: Pair, load: u32, last: Loose, earlier: Loose, any: bool }

fn limit_of(row: Row, threshold: Pair) -> Limit {
  var load = row.loads;
  if (threshold.index != NO_INDEX) { load = load_of(row, threshold.index); }
  let key = threshold.key & LAST_OF_ELEMENTS;  // without bits that no element's key has
  let first = loose_first(key);
  return Limit(threshold, load, loose_last(key), key_before(first), key_less(Loose(0u), first));
}

// Whether keys alone tell of a load's items: not at a sequence's ends, nor beside the threshold.
fn keys_tell(row: Row, v: u32, limit: Limit) -> bool { return first_whole(row) <= v && v < end_whole(row) && v != limit.load; }

// A bit for each item that is near by its key.
fn near_by_keys(v: u32, data: Load, limit: Limit) -> u32 {
  let later = v > limit.load;
  let last = select(limit.last, limit.earlier, later);
  var near = 0u;
#for c in PER_LOAD
  near |= select($[1 << c]u, 0u, key_less(last, loose_of(bits_of(data, $cu))));
#endfor
  return select(near, 0u, later && !limit.any);
}
#else

struct Limit { threshold: Pair }

fn limit_of(row: Row, threshold: Pair) -> Limit { return Limit(threshold); }
fn keys_tell(row: Row, v: u32, limit: Limit) -> bool { return v < row.loads; }
fn near_by_keys(v: u32, data: Load, limit: Limit) -> u32 {
  return select(0u, 1u, data.index != NO_INDEX && !before(limit.threshold, data));
}
#endif

// As `near_by_keys`, of any load, by pairs.
fn near_by_pairs(row: Row, v: u32, data: Load, limit: Limit) -> u32 {
  var near = 0u;
  for (var c = 0u; v < row.loads && c < PER_LOAD; c++) {
    let pair = item(row, v, data, c);
    near |= select(0u, 1u << c, pair.index != NO_INDEX && !before(limit.threshold, pair));
  }
  return near;
}

// A bit for each item that is near.
fn near_in(row: Row, v: u32, data: Load, limit: Limit) -> u32 {
  if (keys_tell(row, v, limit)) { return near_by_keys(v, data, limit); }
  return near_by_pairs(row, v, data, limit);
}

// The item at a place, counted from the first load's first item: read again, which the cache has.
fn near_pair(row: Row, place: u32) -> Pair {
#if SOURCE_ROWS
  return pair_there(row, place, key_there(row, place));
#else
  return item(row, place, load(row, place), 0u);
#endif
}
