// Collects pairs before a workgroup asks for places in a list that others fill too: requests one by
// one would wait for each other. The kernel's `ask` gives the first of so many places, and `places`
// is their number. What belongs beyond them is dropped.
//   COLLECTED  pairs that there is room for; those beyond ask one by one
#import io/sink

var<workgroup> collected: array<Stored, COLLECTED>;
var<workgroup> collected_count: atomic<u32>;
var<workgroup> first_place: u32;

// One invocation, before a barrier ahead of the first `reserve`.
fn collect_none() { atomicStore(&collected_count, 0u); }

fn reserve(sequence: u32, count: u32) -> u32 { return atomicAdd(&collected_count, count); }

fn enlist(sequence: u32, at: u32, pair: Pair) {
  if (at < COLLECTED) {
    collected[at] = store_of(pair);
  } else {
    let place = ask(sequence, 1u);
    if (place < places()) { put(sequence, place, pair); }
  }
}

// All of a workgroup together, once.
fn put_collected(local: u32, sequence: u32) {
  workgroupBarrier();
  let count = min(atomicLoad(&collected_count), COLLECTED);
  if (local == 0u && count > 0u) { first_place = ask(sequence, count); }
  workgroupBarrier();
  for (var i = local; i < count; i += WORKGROUP) {
    if (first_place + i < places()) { put(sequence, first_place + i, pair_of(collected[i])); }
  }
}
