// Appends to a sequence's list, which other workgroups fill too. The kernel's `ask` gives the first
// of so many places. What lies beyond params.places is dropped.
#import io/sink

fn reserve(sequence: u32, count: u32) -> u32 { return ask(sequence, count); }

fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (place < params.places) { put(sequence, place, pair); }
}
