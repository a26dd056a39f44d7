// Which items of a load are up to a threshold: by keys alone, which takes few operations.
//
// Loads are in order of index. So what has the threshold's key counts before the load with its
// index, and not after it. That load, and those at a sequence's ends, are compared as pairs.
#import io/source
#if SOURCE_ROWS
#import order/loose

fn looked_at(data: Load, c: u32) -> Loose { return loose_of(bits_of(data, c)); }
#else

alias Loose = Key;

fn looked_at(data: Load, c: u32) -> Loose { return data.key; }
fn loose_first(key: Key) -> Loose { return key; }
fn loose_last(key: Key) -> Loose { return key; }
#endif

// Keys up to `last` are near in loads before `load`; in later ones, keys before `first`.
struct Limit { threshold: Pair, load: u32, first: Loose, last: Loose }

fn limit_of(row: Row, threshold: Pair) -> Limit {
  var load = row.loads;
  if (threshold.index != NO_INDEX) { load = load_of(row, threshold.index); }
  let key = threshold.key & LAST_OF_ELEMENTS;  // without bits that no element's key has
  return Limit(threshold, load, loose_first(key), loose_last(key));
}

// A bit for each item that is near.
fn near_in(row: Row, v: u32, data: Load, limit: Limit) -> u32 {
  var near = 0u;
  if (v < first_whole(row) || v >= end_whole(row) || v == limit.load) {
    for (var c = 0u; v < row.loads && c < PER_LOAD; c++) {
      let pair = item(row, v, data, c);
      near |= select(0u, 1u << c, pair.index != NO_INDEX && !before(limit.threshold, pair));
    }
  } else if (v < limit.load) {
#for c in PER_LOAD
    near |= select($[1 << c]u, 0u, key_less(limit.last, looked_at(data, $cu)));
#endfor
  } else {
#for c in PER_LOAD
    near |= select(0u, $[1 << c]u, key_less(looked_at(data, $cu), limit.first));
#endfor
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
