// Every pair up to a threshold, in any order. It re-reads the subsets whose delegates qualify.
// input, delegates, bests -> sink (lists, thresholds), counts
//
// params.parts workgroups serve a sequence. Each finds the threshold by itself, as waiting for one
// would take longer. Neighbouring bests fall into different groups. The threshold is the k-th of
// the groups' bests, or one up to params.slack later.
//   CLASSES    1 where there are bests of classes, else the delegates are the bests
//   EACH       groups of an invocation, EACH * WORKGROUP in all
//   MERGED     bests of a group
//   OWN        delegates of an invocation
//   COLLECTED  pairs collected before a workgroup asks for places (lib/workgroup/append.wgsl), or 0
#import workgroup/survivors
#import io/sink
#import io/delegates
#import workgroup/kth
#if COLLECTED > 0
#import workgroup/append

fn places() -> u32 { return params.places; }
#else
fn reserve(sequence: u32, count: u32) -> u32 { return ask(sequence, count); }

fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (place < params.places) { put(sequence, place, pair); }
}
#endif

const ROOM: u32 = WORKGROUP * OWN;

alias Own = array<Pair, OWN>;

fn ask(sequence: u32, count: u32) -> u32 { return atomicAdd(&counts[sequence], count); }

#if CLASSES
@group(0) @binding(7) var<storage, read_write> bests: array<Stored>;  // [sequence][best]

fn stored_best(sequence: u32, place: u32) -> Pair { return pair_of(bests[sequence * params.bests + place]); }
#else
fn stored_best(sequence: u32, place: u32) -> Pair { return delegate_at(sequence, place); }
#endif

// Without a branch, so that all of an invocation's are under way before the first is used.
fn best_at(sequence: u32, place: u32) -> Pair {
  return select_pair(last_pair(), stored_best(sequence, min(place, params.bests - 1u)), place < params.bests);
}

fn bests_of_groups(sequence: u32, local: u32) -> Items {
  var items: Items;
#for m in MERGED
#for i in EACH
  let best$[m]x$i = best_at(sequence, ($mu * EACH + $iu) * WORKGROUP + local);
#endfor
#endfor
#for i in EACH
  items[$i] = best0x$i;
#endfor
#for m in MERGED
#for i in EACH
  if (before(best$[m]x$i, items[$i])) { items[$i] = best$[m]x$i; }
#endfor
#endfor
  return items;
}

// Eight neighbours, and the next eight far away: in sorted data the chosen subsets are neighbours.
fn own_subset(local: u32, part: u32, o: u32) -> u32 {
  return ((local / 8u * OWN + o) * params.parts + part) * 8u + local % 8u;
}

fn own_delegates(sequence: u32, local: u32, part: u32) -> Own {
  var own: Own;
#for o in OWN
  let subset$o = own_subset(local, part, $ou);
  let delegate$o = delegate_at(sequence, min(subset$o, params.subsets - 1u));
#endfor
#for o in OWN
  own[$o] = Pair(delegate$o.key, select(NO_INDEX, delegate$o.index, subset$o < params.subsets));
#endfor
  return own;
}

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
  var items = bests_of_groups(sequence, local);
  var own = own_delegates(sequence, local, part);
  if (local == 0u) {
    choose_none();
#if COLLECTED > 0
    collect_none();
#endif
  }
  let threshold = kth_of(&items, local, params.k, params.slack);
  if (part == 0u && local == 0u) {
    sink_keys[threshold_place(sequence)] = threshold.key;
    sink_indices[threshold_place(sequence)] = threshold.index;
  }
  let row = row_of(sequence);
  var passing = 0u;  // a bit a subset
#for o in OWN
  passing |= select(0u, $[1 << o]u, passes(threshold, own[$o]));
#endfor
  if (passing != 0u) {
    var place = places_for_subsets(countOneBits(passing));
#for o in OWN
    if ((passing & $[1 << o]u) != 0u) { chosen[place] = own_subset(local, part, $ou); place++; }
#endfor
  }
  workgroupBarrier();
  read_chosen(sequence, row, local, threshold);
#if COLLECTED > 0
  put_collected(local, sequence);
#endif
}
