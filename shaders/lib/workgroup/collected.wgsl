// Pairs that a workgroup has collected, in any order, and how many of them precede one.
//   ROOM  for so many, a multiple of eight
#import order/pair

const SPARE: u32 = 8u;  // Places behind the last pair, which counting looks at too.

var<workgroup> collected: array<Stored, ROOM + SPARE>;

// After the last of `count` pairs, before counting: all invocations, and a barrier follows.
fn end_collected(local: u32, count: u32) {
  if (local < SPARE && count <= ROOM) { collected[count + local] = store_of(last_pair()); }
}

// How many of the first `count` pairs collected precede one: of each run of SPARE in `slices`, the
// run `slice`.
fn count_collected(count: u32, mine: Pair, slice: u32, slices: u32) -> u32 {
  var place = 0u;
  for (var j = slice * SPARE; j < count; j += slices * SPARE) {
#for u in 8
    let other$u = collected[j + $uu];
#endfor
#for u in 8
    place += select(0u, 1u, before(pair_of(other$u), mine));
#endfor
  }
  return place;
}
