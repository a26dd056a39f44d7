// Brackets of pairs in registers: which items lie in them, and how many come before.
//
// Brackets are in order. One that overlaps the next ends where that begins. Nearly all items differ
// from every bracket's keys, which then tell all: two comparisons a bracket.
//   BRACKETS  of a sequence
#import io/source
#import order/words

var<private> lows: array<Pair, BRACKETS>;
var<private> highs: array<Pair, BRACKETS>;
var<private> counts: array<u32, BRACKETS>;  // an invocation's items before each bracket

var<workgroup> sums: array<atomic<u32>, BRACKETS>;   // of all invocations
var<workgroup> found: array<atomic<u32>, BRACKETS>;  // items of each bracket; the kernel's

// The kernel's `bracket_end(sequence, end)` gives the words of a bracket's first pair (2 b) and of
// its last (2 b + 1). All of a workgroup together.
fn begin_brackets(local: u32, sequence: u32) {
#for b in BRACKETS
  lows[$b] = pair_from(bracket_end(sequence, $[2 * b]u));
  highs[$b] = pair_from(bracket_end(sequence, $[2 * b + 1]u));
#endfor
  if (local < BRACKETS) {
    atomicStore(&sums[local], 0u);
    atomicStore(&found[local], 0u);
  }
  workgroupBarrier();
}

// Counts an item by its key. True where the key alone does not tell.
fn count_key(key: Key) -> bool {
  var near = false;
#for b in BRACKETS
  let precedes$b = key_less(key, lows[$b].key);
  counts[$b] += select(0u, 1u, precedes$b);
  near = near | !(precedes$b | key_less(highs[$b].key, key));
#endfor
  return near;
}

// An item that has a bracket's key, or lies between its keys: after `count_key`. The kernel's
// `collect` takes what lies in a bracket.
fn look_closer(sequence: u32, pair: Pair) {
  if (pair.index == NO_INDEX) { return; }
  var bracket = BRACKETS;
#for b in BRACKETS
  if (before(pair, lows[$b])) {
    counts[$b] += select(0u, 1u, key_equal(pair.key, lows[$b].key));
  } else {
    bracket = select($bu, BRACKETS, before(highs[$b], pair));
  }
#endfor
  if (bracket < BRACKETS) { collect(sequence, bracket, pair); }
}

fn look_at_load(sequence: u32, row: Row, v: u32, data: Load) {
  var near = 0u;  // a bit an item
  if (v >= first_whole(row) && v < end_whole(row)) {
#for c in PER_LOAD
    near |= select(0u, $[1 << c]u, count_key(key_in(data, $cu)));
#endfor
  } else {
#for c in PER_LOAD
    near |= select(0u, $[1 << c]u, count_key(item(row, v, data, $cu).key));
#endfor
  }
  for (; near != 0u; near &= near - 1u) { look_closer(sequence, item(row, v, data, firstTrailingBit(near))); }
}

// Items of `turns` turns of four loads, from load `first` on.
fn look_at_loads(sequence: u32, row: Row, first: u32, stride: u32, turns: u32) {
  for (var turn = 0u; turn < turns; turn++) {
    let q = first + 4u * turn * stride;
#for u in 4
    let v$u = min(q + $uu * stride, row.loads - 1u);
    let data$u = load(row, v$u);
#endfor
#for u in 4
    if (q + $uu * stride < row.loads) { look_at_load(sequence, row, v$u, data$u); }
#endfor
  }
}

// Adds what an invocation has counted to the sums. All of them once, before a barrier.
fn add_counts() {
#for b in BRACKETS
  atomicAdd(&sums[$b], counts[$b]);
#endfor
}
