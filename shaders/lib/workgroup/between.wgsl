// Brackets of pairs: which items of a row lie in them, and how many come before.
//
// Brackets are in order. One that overlaps the next ends where that begins. Nearly all items differ
// from every bracket's keys, which then tell all. The last pair of a row needs no bracket.
//   BRACKETS  of a sequence
//   LAST      1 where the last pair is wanted, too
//   AGAIN     loads under way at once, of up to 32 items
#import io/source
#import order/words
#if BRACKETS > 4
#import workgroup/bracket_table
#else
#import workgroup/bracket_registers
#endif

var<private> of_keys: bool;     // brackets have all pairs of their keys
#if LAST
var<private> top: Pair;         // the greatest key, and the last load with it
var<private> greatest: Key;     // of a load
#endif

var<workgroup> sums: array<atomic<u32>, BRACKETS>;   // of all invocations
var<workgroup> found: array<atomic<u32>, BRACKETS>;  // items of each bracket; the kernel's
#if LAST
var<workgroup> tops: array<atomic<u32>, 3>;
#endif

// The kernel's `bracket_end(sequence, end)` gives the words of a bracket's first pair (2 b) and of
// its last (2 b + 1).
fn end_of(sequence: u32, end: u32) -> Pair { return pair_from(bracket_end(sequence, end)); }

// All of a workgroup together.
fn begin_brackets(local: u32, sequence: u32) {
  of_keys = true;
  for (var b = 0u; b < BRACKETS; b++) {
    of_keys = of_keys && end_of(sequence, 2u * b).index == 0u && end_of(sequence, 2u * b + 1u).index == NO_INDEX;
  }
  begin_keys(local, sequence);
  if (local < BRACKETS) {
    atomicStore(&sums[local], 0u);
    atomicStore(&found[local], 0u);
  }
#if LAST
  if (local < 3u) { atomicStore(&tops[local], 0u); }
#endif
  workgroupBarrier();
}

// Counts an item by its key. True where the key alone does not tell.
fn count_key(key: Key) -> bool {
#if LAST
  greatest = key_max(greatest, key);
#endif
  return count_among(key);
}

// Counts the items of a load, if there is one. A bit for each that may lie in a bracket.
fn count_keys(row: Row, v: u32, data: Load) -> u32 {
  var near = 0u;
#if LAST
  greatest = Key();
#endif
  if (v >= first_whole(row) && v < end_whole(row)) {
#for c in PER_LOAD
    near |= select(0u, $[1 << c]u, count_key(key_in(data, $cu)));
#endfor
  } else if (v < row.loads) {
    for (var c = 0u; c < PER_LOAD; c++) {
      let pair = item(row, v, data, c);
      if (pair.index != NO_INDEX) { near |= select(0u, 1u << c, count_key(pair.key)); }
    }
  } else {
    return 0u;
  }
#if LAST
  if (!key_less(greatest, top.key)) { top = Pair(greatest, v); }
#endif
  return near;
}

// The pair at a place: items from the row's first load on.
fn pair_there(row: Row, place: u32) -> Pair {
  let position = place - row.skew;
  return pair_in(row.span, position, position, key_there(row, place));
}

// An item that has a bracket's key, or lies between its keys. The kernel's `collect` takes the
// place of what lies in a bracket.
fn look_closer(sequence: u32, row: Row, place: u32) {
  let pair = pair_there(row, place);
  if (of_keys) {
    collect(sequence, row, bracket_of(pair.key), place);
    return;
  }
  var bracket = BRACKETS;
  for (var b = 0u; b < BRACKETS; b++) {
    let low = end_of(sequence, 2u * b);
    if (!before(pair, low)) {
      bracket = select(b, BRACKETS, before(end_of(sequence, 2u * b + 1u), pair));
    } else if (key_equal(pair.key, low.key)) {
      atomicAdd(&sums[b], 1u);
    }
  }
  if (bracket < BRACKETS) { collect(sequence, row, bracket, place); }
}

// Items of `turns` turns of loads, from load `first` on.
fn look_at_loads(sequence: u32, row: Row, first: u32, stride: u32, turns: u32) {
  for (var turn = 0u; turn < turns; turn++) {
    let q = first + AGAIN * turn * stride;
#for u in AGAIN
    let data$u = load(row, min(q + $uu * stride, row.loads - 1u));
#endfor
    var near = 0u;
#for u in AGAIN
    near |= count_keys(row, q + $uu * stride, data$u) << $[u * PER_LOAD]u;
#endfor
    for (; near != 0u; near &= near - 1u) {
      let bit = firstTrailingBit(near);
      let place = (q + bit / PER_LOAD * stride) * PER_LOAD + bit % PER_LOAD;
      if (BRACKETS == 1u && of_keys) { collect(sequence, row, 0u, place); } else { look_closer(sequence, row, place); }
    }
  }
}
#if LAST

// The last pair of what a workgroup has looked at, for the invocation that met it; others have
// nothing. All of them together.
fn last_met(row: Row) -> Pair {
  let words = words_of(top);
  var leads = true;
#for w in 3
  if (leads) { atomicMax(&tops[$w], words[$w]); }
  workgroupBarrier();
  leads = leads && words[$w] == atomicLoad(&tops[$w]);
#endfor
  var last = last_pair();
  if (leads) {
    let data = load(row, top.index);
    for (var c = 0u; c < PER_LOAD; c++) {
      let pair = item(row, top.index, data, c);
      if (pair.index != NO_INDEX && key_equal(pair.key, top.key)) { last = pair; }
    }
  }
  return last;
}
#endif
