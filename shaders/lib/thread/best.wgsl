// The best item of many loads, for loops that keep one best pair an invocation.
//   IN_ORDER  1 where items come in ascending order of index. Then the index holds the number of
//             the first load with the best key, and `settled` looks up the rest.
#import io/source
#import io/least

#if IN_ORDER

fn sooner(best: Pair, least: Key, v: u32) -> Pair { return select_pair(best, Pair(least, v), key_less(least, best.key)); }

fn best_of(row: Row, v: u32, data: Load, best: Pair) -> Pair { return sooner(best, least_inside(row, v, data), v); }

// Of a load whose items all belong to the sequence.
fn best_of_whole(row: Row, v: u32, data: Load, best: Pair) -> Pair { return sooner(best, least_in(data), v); }

// The pair itself: the load's first item with the key.
fn settled(row: Row, best: Pair) -> Pair {
  var found = last_pair();
  if (best.index != NO_INDEX) {
    let data = load(row, best.index);
#for c in PER_LOAD
    let item$c = item(row, best.index, data, $cu);
    if (key_equal(item$c.key, best.key) & (item$c.index < found.index)) { found = item$c; }
#endfor
  }
  return found;
}

// A pair that stands for the best among those of other loads, and does not come before it.
fn delegate_of(row: Row, best: Pair) -> Pair {
  return Pair(best.key, select(last_index_in(row, best.index), NO_INDEX, best.index == NO_INDEX));
}

#else

fn best_of(row: Row, v: u32, data: Load, best: Pair) -> Pair {
  var found = best;
#for c in PER_LOAD
  {
    let candidate = item(row, v, data, $cu);
    found = select_pair(found, candidate, before(candidate, found));
  }
#endfor
  return found;
}

fn best_of_whole(row: Row, v: u32, data: Load, best: Pair) -> Pair { return best_of(row, v, data, best); }
fn settled(row: Row, best: Pair) -> Pair { return best; }
fn delegate_of(row: Row, best: Pair) -> Pair { return best; }

#endif
