// The least and the greatest key of each team of a workgroup, which all of it learn.
#import order/compare
#import workgroup/sums

struct Range { least: Key, greatest: Key }

fn least_key_of_team(local: u32, lanes: u32, mine: Key) -> Key {
#if KEY_WORDS == 1
  return least_of_team(local, lanes, mine);
#else
  let high = least_of_team(local, lanes, mine.x);
  return Key(high, least_of_team(local, lanes, select(0xffffffffu, mine.y, mine.x == high)));
#endif
}

// All invocations call it together.
fn range_of_team(local: u32, lanes: u32, mine: Range) -> Range {
  return Range(least_key_of_team(local, lanes, mine.least), ~least_key_of_team(local, lanes, ~mine.greatest));
}
