// Appends pairs to the list of their sequence, which other workgroups fill too. A kernel has `ask`, which gives the first of so many
// places there. What would lie beyond params.places is left away.
#import io/sink

fn reserve(sequence: u32, count: u32) -> u32 { return ask(sequence, count); }

fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (place < params.places) { put(sequence, place, pair); }
}
