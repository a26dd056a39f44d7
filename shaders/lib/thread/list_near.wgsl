// Lists what is up to a threshold among several loads of an invocation.
//
// The kernel's `reserve` gives the first of so many places, and its `enlist` fills one.
#import thread/near_loads

fn list_near(sequence: u32, row: Row, n: u32, step: u32, limit: Limit) {
  var near = near_in_loads(row, n, step, limit);
  if (near == 0u) { return; }
  var at = reserve(sequence, countOneBits(near));
  for (; near != 0u; near &= near - 1u) {
    enlist(sequence, at, near_pair(row, place_of_first(near)));
    at++;
  }
}
