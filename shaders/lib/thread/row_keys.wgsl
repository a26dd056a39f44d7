// The keys of a register tile, all loads of an invocation. Items that are not there have LAST_KEY.
//   LOADS   of an invocation; they are under way at once
//   WHOLE   loads before the WHOLE-th hold the sequence's items alone; the first does not if SKEWED
//   SKEWED  1 where sequences may begin inside loads
#import thread/key_at

alias Keys = array<Key, LOADS * PER_LOAD>;

fn read_keys(row: Row, lane: u32, keys: ptr<function, Keys>) {
#for l in LOADS
#if WHOLE > $l
  let data$l = load(row, $[l * TEAM]u + lane);
#else
  let data$l = load(row, min($[l * TEAM]u + lane, row.loads - 1u));
#endif
#endfor
#for l in LOADS
#for c in PER_LOAD
#if WHOLE > $l && $[l + 1] > SKEWED
  (*keys)[$[l * PER_LOAD + c]] = key_in(data$l, $cu);
#else
  (*keys)[$[l * PER_LOAD + c]] = key_at(row, $[l * TEAM * PER_LOAD + c]u + lane * PER_LOAD, data$l, $cu);
#endif
#endfor
#endfor
}

// The position of an invocation's item, or more than any where there is none.
fn position_of(row: Row, i: u32, lane: u32) -> u32 {
  return i / PER_LOAD * TEAM * PER_LOAD + i % PER_LOAD + lane * PER_LOAD - row.skew;
}
