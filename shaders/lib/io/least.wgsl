// The least key of a load's items: of those of a sequence, or whichever they belong to.
//   EXTREMES  1 where the extremes of the items' bits tell it: 3 operations an item, not 8
#import io/source

fn least_inside(row: Row, v: u32, data: Load) -> Key {
  var least = LAST_KEY;
#for c in PER_LOAD
  least = key_min(least, item(row, v, data, $cu).key);
#endfor
  return least;
}

#if EXTREMES

// Negative floats have larger bits than positive ones, in reverse. NaNs lie above all others.
fn least_in(data: Load) -> Key {
  let bits0 = bits_of(data, 0u);
  var top = bitcast<i32>(bits0);
  var low = bits0;
  var high = bits0;
#for c in PER_LOAD
  top = max(top, bitcast<i32>(bits_of(data, $cu)));
  low = min(low, bits_of(data, $cu));
  high = max(high, bits_of(data, $cu));
#endfor
  let smallest = select(low, high, high >= MINUS);
  let largest = select(low, bitcast<u32>(top), top >= 0);
  let nan = (top > bitcast<i32>(params.largest)) | (high > (MINUS | params.largest));
  return select(key_of_number(select(smallest, largest, largest_first())), params.nan_key, nan);
}

#else

fn least_in(data: Load) -> Key {
  var least = key_in(data, 0u);
#for c in PER_LOAD
  least = key_min(least, key_in(data, $cu));
#endfor
  return least;
}

#endif
