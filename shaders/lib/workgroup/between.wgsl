// Brackets of pairs in workgroup memory: which items lie in them, and how many lie between.
//
// Class c has the items that c brackets begin before, and that lie in none.
//   BRACKETS  in order; those that overlap end where the next begins
//   STEPS     so many steps find a place among them
//   WORDS     words of counters of 8 bits for the classes
#import io/source

const SIZE: u32 = 1u << STEPS;

alias Counts = array<u32, WORDS>;

struct Ends { low: Key, high: Key }  // of keys: the first of a bracket, the last of the one before

var<workgroup> lows: array<Key, SIZE>;
var<workgroup> ends: array<Ends, BRACKETS + 1u>;
var<workgroup> low_pairs: array<Stored, BRACKETS>;
var<workgroup> high_pairs: array<Stored, BRACKETS>;
var<workgroup> sums: array<atomic<u32>, BRACKETS + 1u>;  // items of each class
var<workgroup> found: array<atomic<u32>, BRACKETS>;      // and of each bracket; the kernel's

fn pair_of_words(words: vec3<u32>) -> Pair {
#if KEY_WORDS == 1
  return Pair(words.x, words.y);
#else
  return Pair(words.xy, words.z);
#endif
}

// The kernel's `bracket_end(sequence, end)` gives the words of a bracket's first pair (2 b) and of
// its last (2 b + 1). All of a workgroup together.
fn begin_brackets(local: u32, sequence: u32) {
  if (local < SIZE) { lows[local] = LAST_KEY; }
  if (local < BRACKETS + 1u) {
    ends[local] = Ends(LAST_KEY, LAST_KEY);
    atomicStore(&sums[local], 0u);
  }
  workgroupBarrier();
  if (local < BRACKETS) {
    let low = pair_of_words(bracket_end(sequence, 2u * local));
    let high = pair_of_words(bracket_end(sequence, 2u * local + 1u));
    low_pairs[local] = store_of(low);
    high_pairs[local] = store_of(high);
    lows[local] = low.key;
    ends[local].low = low.key;
    ends[local + 1u].high = high.key;
    atomicStore(&found[local], 0u);
  }
  workgroupBarrier();
}

// The class of a pair, and whether it lies in the bracket before that.
fn class_of(pair: Pair) -> vec2<u32> {
  var class_ = 0u;
#for b in BRACKETS
  class_ += select(1u, 0u, before(pair, pair_of(low_pairs[$b])));
#endfor
  let inside = class_ > 0u && !before(pair_of(high_pairs[max(class_, 1u) - 1u]), pair);
  return vec2<u32>(class_, select(0u, 1u, inside));
}

// Counts an item, or has the kernel's `collect` take it.
fn look_at(sequence: u32, pair: Pair, counts: ptr<function, Counts>) {
  var class_ = 0u;
#for s in STEPS
  class_ += select(0u, $[1 << (STEPS - 1 - s)]u, key_less(lows[class_ + $[(1 << (STEPS - 1 - s)) - 1]u], pair.key));
#endfor
  class_ = min(class_, BRACKETS);
  let near = ends[class_];
  // Only pairs tell whether an item that has an end's key, or lies between keys, is inside.
  let unsure = key_equal(near.low, pair.key) || (class_ > 0u && !key_less(near.high, pair.key));
  var one = select(0u, 1u, pair.index != NO_INDEX);
  if (unsure && one > 0u) {
    let exact = class_of(pair);
    class_ = exact.x;
    if (exact.y == 1u) {
      one = 0u;
      collect(sequence, class_ - 1u, pair);
    }
  }
  let here = one << (8u * (class_ & 3u));
#for w in WORDS
  (*counts)[$w] += select(0u, here, class_ >> 2u == $wu);
#endfor
}

// Items of `turns` turns of four loads, from load `first` on.
fn look_at_loads(sequence: u32, row: Row, first: u32, stride: u32, turns: u32) {
  var counts = Counts();
  for (var turn = 0u; turn < turns; turn++) {
    let q = first + 4u * turn * stride;
#for u in 4
    let v$u = min(q + $uu * stride, row.loads - 1u);
    let data$u = load(row, v$u);
#endfor
#for u in 4
    if (q + $uu * stride < row.loads) {
#for c in PER_LOAD
      look_at(sequence, item(row, v$u, data$u, $cu), &counts);
#endfor
    }
#endfor
  }
#for w in WORDS
#for b in 4
  if ($[4 * w + b]u < BRACKETS + 1u) { atomicAdd(&sums[min($[4 * w + b]u, BRACKETS)], (counts[$w] >> $[8 * b]u) & 0xffu); }
#endfor
#endfor
}
