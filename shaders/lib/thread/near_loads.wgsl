// Which items of several loads of an invocation are up to a threshold.
//
// The kernel's `nth_load(n)` is the load that a number stands for, or NOWHERE.
//   AGAIN  loads under way at once, of up to 32 items together
#import thread/near

const NOWHERE: u32 = 0xffffffffu;

var<private> looked_at: array<u32, AGAIN>;  // the loads

// By comparisons, as registers have no numbers.
fn load_looked_at(number: u32) -> u32 {
  var v = looked_at[0];
#for u in AGAIN
  v = select(v, looked_at[$u], number == $uu);
#endfor
  return v;
}

// A bit for each item of AGAIN loads, `step` numbers apart, that is near.
fn near_in_loads(row: Row, n: u32, step: u32, limit: Limit) -> u32 {
#for u in AGAIN
  looked_at[$u] = nth_load(n + $uu * step);
  let data$u = load(row, min(looked_at[$u], row.loads - 1u));
#endfor
  var near = 0u;
  var doubtful = 0u;  // those whose pairs must be looked at
#for u in AGAIN
  if (looked_at[$u] < limit.loads) {
    let tell$u = keys_tell(row, looked_at[$u], limit);
    let near$u = near_by_keys(looked_at[$u], data$u, limit, tell$u) << $[u * PER_LOAD]u;
    near |= near$u;
    doubtful |= select(near$u, 0u, tell$u);
  }
#endfor
  // One copy of this serves all loads: so there is less to compile.
  for (; doubtful != 0u; doubtful &= doubtful - 1u) {
    let bit = firstTrailingBit(doubtful);
    let v = load_looked_at(bit / PER_LOAD);
    if (!is_near(row, v, load(row, v), bit % PER_LOAD, limit)) { near ^= 1u << bit; }
  }
  return near;
}

// The place of the lowest of those bits, counted from the first load's first item.
fn place_of_first(near: u32) -> u32 {
  let bit = firstTrailingBit(near);
  return load_looked_at(bit / PER_LOAD) * PER_LOAD + bit % PER_LOAD;
}
