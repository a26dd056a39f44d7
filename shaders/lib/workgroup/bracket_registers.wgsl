// The keys of few brackets, in registers: two comparisons of an item a bracket.

var<private> lows: array<Loose, BRACKETS>;
var<private> highs: array<Loose, BRACKETS>;
var<private> counts: array<u32, BRACKETS>;  // items by their keys before each bracket

fn begin_keys(local: u32, sequence: u32) {
#for b in BRACKETS
  lows[$b] = loose_first(end_of(sequence, $[2 * b]u).key);
  highs[$b] = loose_last(end_of(sequence, $[2 * b + 1]u).key);
#endfor
}

// The bracket that has a loose key.
fn bracket_of(loose: Loose) -> u32 {
  var bracket = 0u;
#for b in BRACKETS
  bracket = select($bu, bracket, key_less(loose, lows[$b]));
#endfor
  return bracket;
}

// Counts a loose key. Whether any bracket has it.
fn count_among(loose: Loose) -> bool {
  var near = false;
#for b in BRACKETS
  let precedes$b = key_less(loose, lows[$b]);
  counts[$b] += select(0u, 1u, precedes$b);
  near = near | !(precedes$b | key_less(highs[$b], loose));
#endfor
  return near;
}

// Adds what an invocation has counted to the sums. All of them once, before a barrier.
fn add_counts(local: u32) {
#for b in BRACKETS
  atomicAdd(&sums[$b], counts[$b]);
#endfor
}
