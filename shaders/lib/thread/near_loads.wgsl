// Which items of several loads of an invocation are up to a threshold.
//   AGAIN  loads under way at once, of up to 32 items
#import thread/near

// A bit for each item of AGAIN loads, `step` apart, that is near.
fn near_in_loads(row: Row, v: u32, step: u32, limit: Limit) -> u32 {
#for u in AGAIN
  let data$u = load(row, min(v + $uu * step, row.loads - 1u));
#endfor
  var near = 0u;
#for u in AGAIN
  near |= near_in(row, v + $uu * step, data$u, limit) << $[u * PER_LOAD]u;
#endfor
  return near;
}

// The place of the lowest of those bits, counted from the first load's first item.
fn place_of_first(v: u32, step: u32, near: u32) -> u32 {
  let bit = firstTrailingBit(near);
  return (v + bit / PER_LOAD * step) * PER_LOAD + bit % PER_LOAD;
}
