// The first k of each part of each sequence, in order: source -> pairs (sink_keys, sink_indices).
//
// An invocation serves a part, params.members loads, and keeps a sorted list in registers. Items
// come in the order of their indices, so an item goes behind all of the list whose keys are not
// greater. A narrow key and an item's place in its part are one word, so that minima and maxima
// insert it.
//   K            places of the list, at least k
//   LOADS        that are looked at together
//   NARROW_KEYS  1 where keys have up to 16 bits; places have the others
#import io/subsets
#import io/sink

#if NARROW_KEYS

alias Best = u32;
const NOTHING: Best = 0xffffffffu;  // It comes after every word.
const PLACES: u32 = 0xffffu;

fn best_of(row: Row, first: u32, v: u32, data: Load, c: u32) -> Best {
  let pair = item(row, v, data, c);
  return select(NOTHING, (pair.key & ~PLACES) | ((v - first) * PER_LOAD + c), pair.index != NO_INDEX);
}
fn is_item(best: Best) -> bool { return true; }  // Nothing precedes nothing.
fn precedes(next: Best, last: Best) -> bool { return next < last; }
fn pair_of_best(row: Row, first: u32, best: Best) -> Pair {
  if (best == NOTHING) { return last_pair(); }
  return Pair(best & ~PLACES, index_at(row, first * PER_LOAD + (best & PLACES) - row.skew));
}

#else

// Of the last key only the index tells an item from nothing.
alias Best = Pair;
const NOTHING: Best = Best(LAST_KEY, NO_INDEX);

fn best_of(row: Row, first: u32, v: u32, data: Load, c: u32) -> Best { return item(row, v, data, c); }
fn is_item(best: Best) -> bool { return best.index != NO_INDEX; }
fn precedes(next: Best, last: Best) -> bool { return key_less(next.key, last.key) | (last.index == NO_INDEX); }
fn pair_of_best(row: Row, first: u32, best: Best) -> Pair { return best; }

#endif

fn run(workgroup: u32, local: u32) {
  let work = work_of(workgroup * WORKGROUP + local);
  if (work.sequence >= params.sequences || work.subset >= params.subsets) { return; }
  let row = row_of(work.sequence);
  let loads = loads_of(row, work.subset);
  let first = loads.x;
#for i in K
  var best$i = NOTHING;
#endfor
  for (var v = first; v < loads.y; v += LOADS) {
    var passing = 0u;  // a bit an item
#for l in LOADS
    let data$l = load(row, min(v + $lu, loads.y - 1u));
#endfor
#for l in LOADS
#for c in PER_LOAD
    {
      let next = best_of(row, first, v + $lu, data$l, $cu);
      passing |= select(0u, $[1 << l * PER_LOAD + c]u, precedes(next, best$[K - 1]) & is_item(next) & (v + $lu < loads.y));
    }
#endfor
#endfor
    // A loop, not a branch: such a machine runs what stands in a branch, taken or not.
    for (; passing > 0u; passing &= passing - 1u) {
      let place = firstTrailingBit(passing);
#if LOADS > 1
      let next = best_of(row, first, v + place / PER_LOAD, load(row, v + place / PER_LOAD), place % PER_LOAD);
#else
      let next = best_of(row, first, v, data0, place);
#endif
#if NARROW_KEYS
      var above = 0u;
#for i in K
      {
        let own = best$i;
        best$i = max(above, min(next, own));
        above = own;
      }
#endfor
#else
#for i in K
      let later$i = precedes(next, best$i);
#endfor
      var above = next;
      var shifts = false;
#for i in K
      {
        let own = best$i;
        best$i = select_pair(own, select_pair(next, above, shifts), later$i);
        above = own;
        shifts = later$i;
      }
#endfor
#endif
    }
  }
  let to = target_of(work.sequence);
#for i in K
  // A place more takes what is beyond k.
  put_to(to, select(params.subsets * params.k, work.subset * params.k + $iu, $iu < params.k), pair_of_best(row, first, best$i));
#endfor
}
