// The keys of few brackets, in registers: two comparisons of an item a bracket.

var<private> lows: array<Key, BRACKETS>;
var<private> highs: array<Key, BRACKETS>;
var<private> counts: array<u32, BRACKETS>;  // items by their keys before each bracket

fn begin_keys(local: u32, sequence: u32) {
#for b in BRACKETS
  lows[$b] = end_of(sequence, $[2 * b]u).key;
  highs[$b] = end_of(sequence, $[2 * b + 1]u).key;
#endfor
}

// The bracket that has a key.
fn bracket_of(key: Key) -> u32 {
  var bracket = 0u;
#for b in BRACKETS
  bracket = select($bu, bracket, key_less(key, lows[$b]));
#endfor
  return bracket;
}

// Counts a key. Whether any bracket has it.
fn count_among(key: Key) -> bool {
  var near = false;
#for b in BRACKETS
  let precedes$b = key_less(key, lows[$b]);
  counts[$b] += select(0u, 1u, precedes$b);
  near = near | !(precedes$b | key_less(highs[$b], key));
#endfor
  return near;
}

// Adds what an invocation has counted to the sums. All of them once, before a barrier.
fn add_counts(local: u32) {
#for b in BRACKETS
  atomicAdd(&sums[$b], counts[$b]);
#endfor
}
