// Brackets of pairs: which items of a row lie in them, and how many come before.
//
// Brackets are in order. One that overlaps the next ends where that begins. Nearly all items differ
// from every bracket's keys, which then tell all: loose ones do, in half of the operations. The
// places of the others are collected, and looked at closer by as many invocations as there are. The
// last pair of a row needs no bracket.
//   BRACKETS   of a sequence
//   LAST       1 where the last pair is wanted, too
//   AGAIN      loads under way at once, of up to 32 items
//   COLLECTED  places and keys that there is room for
#import io/brackets
#import io/source
#import order/loose
#import order/words
#if BRACKETS > 4
#import workgroup/bracket_table
#else
#import workgroup/bracket_registers
#endif

var<private> of_keys: bool;      // brackets have all pairs of their keys
#if LAST
var<private> greatest: Loose;    // of a load
var<private> top: Loose;         // of all, merged, and the last load with it
var<private> top_load: u32;
#endif

var<workgroup> sums: array<atomic<u32>, BRACKETS>;   // of all invocations
var<workgroup> found: array<atomic<u32>, BRACKETS>;  // items of each bracket; the kernel's
var<workgroup> collected: array<u32, COLLECTED>;     // places, from the row's first load on
var<workgroup> collected_keys: array<Key, COLLECTED>;
var<workgroup> collected_count: atomic<u32>;

#if LAST
var<workgroup> tops: array<atomic<u32>, 3>;
#endif

const NOWHERE: u32 = 0xffffffffu;

// The first pair (2 b) of a bracket, and its last (2 b + 1).
fn end_of(sequence: u32, end: u32) -> Pair { return pair_from(brackets[2u * BRACKETS * sequence + end].xyz); }

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
  if (local == 0u) { atomicStore(&collected_count, 0u); }
#if LAST
  if (local < 3u) { atomicStore(&tops[local], 0u); }
#endif
  workgroupBarrier();
}

// Counts an item. True where it may lie in a bracket.
fn count_item(loose: Loose) -> bool {
#if LAST
  greatest = key_max(greatest, loose);
#endif
  return count_among(loose);
}

// Counts the items of a load, if there is one. A bit for each that may lie in a bracket.
fn count_keys(row: Row, v: u32, data: Load) -> u32 {
  var near = 0u;
#if LAST
  greatest = Key();
#endif
  if (v >= first_whole(row) && v < end_whole(row)) {
#for c in PER_LOAD
    near |= select(0u, $[1 << c]u, count_item(loose_of(bits_of(data, $cu))));
#endfor
  } else if (v < row.loads) {
    for (var c = 0u; c < PER_LOAD; c++) {
      if (item(row, v, data, c).index != NO_INDEX) {
        near |= select(0u, 1u << c, count_item(loose_of(bits_of(data, c))));
      }
    }
  }
#if LAST
  let mine = merged(greatest);
  let leads = v < row.loads && !key_less(mine, top);
  top = select(top, mine, leads);
  top_load = select(top_load, v, leads);
#endif
  return near;
}

fn pair_collected(row: Row, number: u32) -> Pair { return pair_there(row, collected[number], collected_keys[number]); }

// The bracket that a pair lies in, or BRACKETS. It has a bracket's key, or lies between its keys.
// Where it has the first key but precedes the bracket, it is counted now.
fn bracket_there(sequence: u32, pair: Pair) -> u32 {
  if (of_keys) { return bracket_of(loose_first(pair.key)); }
  var bracket = BRACKETS;
  for (var b = 0u; b < BRACKETS; b++) {
    let low = end_of(sequence, 2u * b);
    if (!before(pair, low)) {
      bracket = select(b, BRACKETS, before(end_of(sequence, 2u * b + 1u), pair));
    } else if (key_equal(pair.key, low.key)) {
      atomicAdd(&sums[b], 1u);
    }
  }
  return bracket;
}

// Items of `turns` turns of loads, from load `first` on. The kernel's `take_late` takes
// what may lie in a bracket where there is no room for it.
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
    if (near != 0u) {
      var at = atomicAdd(&collected_count, countOneBits(near));
      for (; near != 0u; near &= near - 1u) {
        let bit = firstTrailingBit(near);
        let place = (q + bit / PER_LOAD * stride) * PER_LOAD + bit % PER_LOAD;
        if (at < COLLECTED) {
          collected[at] = place;
          collected_keys[at] = key_there(row, place);
        } else {
          take_late(sequence, pair_there(row, place, key_there(row, place)));
        }
        at++;
      }
    }
  }
}
#if LAST

// The last pair of what a workgroup has looked at, for the invocation that met it; others have
// nothing. All of them together.
fn last_met(row: Row) -> Pair {
  let words = words_of(Pair(top, top_load));
  var leads = true;
#for w in 3
  if (leads) { atomicMax(&tops[$w], words[$w]); }
  workgroupBarrier();
  leads &= words[$w] == atomicLoad(&tops[$w]);
#endfor
  var last = last_pair();
  if (leads) {
    let data = load(row, top_load);
    for (var c = 0u; c < PER_LOAD; c++) {
      let pair = item(row, top_load, data, c);
      if (pair.index != NO_INDEX && key_equal(merged(loose_of(bits_of(data, c))), top)) { last = pair; }
    }
  }
  return last;
}
#endif
