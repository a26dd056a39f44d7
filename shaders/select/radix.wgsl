// The first k pairs of every sequence, in order, by its k-th subset: input -> sink. About one read.
//
// A workgroup serves a sequence. Subset p holds the loads p, p + params.subsets, ... The k-th of
// the subsets' bests (lib/workgroup/kth.wgsl), or one up to params.slack later, is a threshold,
// which the first k pairs are up to. It re-reads the subsets that can have such pairs, lists and
// sorts them. Where the list overflows, its own k-th is a nearer threshold for a list made anew.
// Where far too many pass, as of one value alone, they are counted by digits until few enough do
// (benchmarks/LOG.md#rows-of-one-value-2026-11-26-8c451f9). A list that is too long to be sorted is
// cut at its own k-th.
//   CUT      1 where the list is cut to k pairs and left in any order
//   SPILLED  1 where that list is the sink's, for want of workgroup memory
//   PLACES   of the list, over k and params.longest at least, which is sorted uncut
//   EACH     pairs of an invocation to find the k-th among: its subsets' bests, or of the list
#import workgroup/subset_bests
#import io/sink
#import workgroup/kth
#import workgroup/counted_digit
#import workgroup/same
#if SPILLED

fn pair_in_list(sequence: u32, place: u32) -> Pair {
  let at = target_of(sequence) + place;
  return Pair(sink_keys[at], sink_indices[at]);
}
fn set_in_list(sequence: u32, place: u32, pair: Pair) { put(sequence, place, pair); }
#else
#import workgroup/sort_list
#import io/put_ranks

fn pair_in_list(sequence: u32, place: u32) -> Pair { return pair_held(list[place]); }
fn set_in_list(sequence: u32, place: u32, pair: Pair) { list[place] = held_of(pair); }
fn ranked(slot: u32, rank: u32) -> Pair { return pair_held(list[rank]); }
#endif

const ALIKE: u32 = 1u;
const REAL: u32 = 2u;
const MOST_LISTED: u32 = 2u * PLACES;  // Of more, counting leaves the right ones sooner.

var<workgroup> listed: atomic<u32>;

fn reserve(sequence: u32, places: u32) -> u32 {
  if (digit.counted) { return 0u; }
  return atomicAdd(&listed, places);
}

fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (digit.counted) {
    if (!count_pair(pair)) { atomicAdd(&listed, 1u); }
  } else if (place < PLACES) {
    set_in_list(sequence, place, pair);
  }
}

// An invocation's part of the list, or nothing.
fn hold_list(sequence: u32, local: u32, length: u32, items: ptr<function, Items>) {
#for i in EACH
  (*items)[$i] = last_pair();
  if (local + $iu * WORKGROUP < length) { (*items)[$i] = pair_in_list(sequence, local + $iu * WORKGROUP); }
#endfor
#if SPILLED
  storageBarrier();  // The list is made anew behind barriers of workgroup memory.
#endif
}

// Lists again what of the list was held.
fn keep_passing(sequence: u32, items: ptr<function, Items>, threshold: Pair) {
  var passing = 0u;  // a bit each
#for i in EACH
  passing |= select(0u, $[1 << i]u, passes(threshold, (*items)[$i]));
#endfor
  for (; passing != 0u; passing &= passing - 1u) {
    let own = firstTrailingBit(passing);
    var pair = (*items)[0];
#for i in EACH
    pair = select_pair(pair, (*items)[$i], own == $iu);
#endfor
    enlist(sequence, reserve(sequence, 1u), pair);
  }
}

fn length_of_list(local: u32) -> u32 {
#if SPILLED
  storageBarrier();
#endif
  workgroupBarrier();
  if (local == 0u) { shared_word = atomicAnd(&listed, 0u); }
  return workgroupUniformLoad(&shared_word);
}

// What is known of a threshold, a bit each: many of what is chosen may have its key, as the first
// subset's best has it and none precedes that; and it is a real pair. All call it together.
fn look_at(local: u32, items: ptr<function, Items>, last: Pair) -> u32 {
  let first = words_of(last).x == atomicLoad(&kth_least);
  let alike = select(0u, ALIKE, first && key_equal((*items)[0].key, last.key));
  return same_for_all(local, alike | select(0u, REAL, last.index != NO_INDEX));
}

// Lists what is up to `last`, or to a nearer pair where that is far more than there is room for.
fn list_chosen(sequence: u32, row: Row, local: u32, look: u32, last: ptr<function, Pair>) -> u32 {
  var length = select(0u, MOST_LISTED + 1u, (look & ALIKE) != 0u);
  var rank = params.k;  // of pairs from `least` on, once those before are counted
  // Most of what is too much has the last key, if that is real and fewer than k are before it.
  var tied = (look & REAL) != 0u;
  least = vec3<u32>(atomicLoad(&kth_least), 0u, 0u);
  if (tied) {
    least = words_of(*last);
    least[KEY_WORDS] = 0u;
  }
  loop {
    let counts = length > MOST_LISTED;
    if (counts) { begin_counts(*last); }
    read_chosen(sequence, row, local, *last);
    let reserved = length_of_list(local);
    if (counts) {
      let sooner = tied && reserved >= rank;
      rank -= select(0u, reserved, tied && !sooner);
      let place = kth_bin(local, rank);
      if (sooner) {
        least = vec3<u32>(atomicLoad(&kth_least), 0u, 0u);
      } else {
        *last = narrowed(*last, place.x);
        rank -= place.y;
        length = params.k - rank + place.z;
      }
      tied = false;
    } else {
      length = reserved;
      if (length <= MOST_LISTED) { break; }
    }
  }
  return length;
}

// The length of the list, complete and short enough to be sorted; no pair of it is after `last`.
fn list_survivors(sequence: u32, row: Row, local: u32, items: ptr<function, Items>, last: ptr<function, Pair>) -> u32 {
  if (local == 0u) {
    choose_none();
    atomicStore(&listed, 0u);
  }
  var length = 0u;
  var slack = params.slack;
  // One copy of `kth_of` serves all: so there is less to compile.
  for (var chosen_before = false; ; chosen_before = true) {
    *last = kth_of(items, local, params.k, slack);
    if (chosen_before && length <= PLACES) { break; }
    var look = 0u;
    if (!chosen_before) {
      choose_all(items, local, *last);
      look = look_at(local, items, *last);
    }
    // A nearer threshold lists fewer, so counting comes before the first list alone.
    length = list_chosen(sequence, row, local, look, last);
    if (length <= params.longest) { break; }
    hold_list(sequence, local, min(length, PLACES), items);
    slack = min(slack, params.longest - params.k);
  }
  // Here, as FXC leaves out stores in front of a loop's break (docs/driver-bugs.md).
  if (length > params.longest) {
    keep_passing(sequence, items, *last);
    length = length_of_list(local);
  }
  return length;
}

fn run(sequence: u32, local: u32) {
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  var items: Items;
#for i in EACH
  items[$i] = last_pair();
#endfor
  scan_own(row, local, OWN * WORKGROUP, &items);
  var last: Pair;
  let length = list_survivors(sequence, row, local, &items, &last);
#if !CUT
  sort_list(local, length, params.k);
#endif
#if !SPILLED
  put_ranks_of_one(sequence, 0u, params.k, local);
#endif
}
