// Re-reads a sequence's chosen subsets; lists what is up to a threshold (thread/list_near).
//   ROOM     for the numbers of chosen subsets and loads
//   AGAIN    loads under way at once
//   SECONDS  1 where single loads are chosen too
#import thread/list_near

var<workgroup> chosen: array<u32, ROOM>;  // subsets from the front, single loads from the back
var<workgroup> chosen_count: atomic<u32>;

// The first of so many places of `chosen`.
fn places_for_subsets(count: u32) -> u32 { return atomicAdd(&chosen_count, count); }

#if SECONDS
var<workgroup> single_count: atomic<u32>;

fn places_for_loads(count: u32) -> u32 { return ROOM - count - atomicAdd(&single_count, count); }
#endif

// One invocation, before a barrier ahead of the first that asks for places.
fn choose_none() {
  atomicStore(&chosen_count, 0u);
#if SECONDS
  atomicStore(&single_count, 0u);
#endif
}

#if SECONDS
var<private> singles: u32;  // loads chosen singly
#else
const singles: u32 = 0u;
#endif
var<private> again: u32;    // all loads that are read again
var<private> shift: u32;    // Bits of a member's number. Some numbers have no member.

fn nth_load(n: u32) -> u32 {
  let member = n - singles;  // of a subset, if there is one
  let single = n < singles;
  let place = select(member >> shift, ROOM - 1u - n, single);
  let v = chosen[place] + select(member & ((1u << shift) - 1u), 0u, single) * params.subsets;
  return select(NOWHERE, v, n < again);
}

// After a barrier behind the last choice.
fn read_chosen(sequence: u32, row: Row, local: u32, threshold: Pair) {
  shift = 32u - countLeadingZeros(params.members - 1u);
#if SECONDS
  singles = atomicLoad(&single_count);
#endif
  again = singles + (atomicLoad(&chosen_count) << shift);
  let limit = limit_of(row, threshold);
  for (var n = local; n < again; n += AGAIN * WORKGROUP) { list_near(sequence, row, n, WORKGROUP, limit); }
}
