// The best item of many loads, for loops that keep one best pair an invocation.
//   IN_ORDER  1 where items come in ascending order of index. Then the index holds the number of
//             the first load with the best key, and `settled` looks up the rest.
#import io/source
#import io/least

#if IN_ORDER

fn best_of(row: Row, v: u32, data: Load, best: Pair) -> Pair {
  var least = LAST_KEY;
#for c in PER_LOAD
  least = key_min(least, item(row, v, data, $cu).key);
#endfor
  let wins = key_less(least, best.key);
  return Pair(select(best.key, least, wins), select(best.index, v, wins));
}

// Of a load whose items all belong to the sequence.
fn best_of_whole(row: Row, v: u32, data: Load, best: Pair) -> Pair {
  let least = least_in(data);
  let wins = key_less(least, best.key);
  return Pair(select(best.key, least, wins), select(best.index, v, wins));
}

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
    let wins = before(candidate, found);
    found = Pair(select(found.key, candidate.key, wins), select(found.index, candidate.index, wins));
  }
#endfor
  return found;
}

fn best_of_whole(row: Row, v: u32, data: Load, best: Pair) -> Pair { return best_of(row, v, data, best); }
fn settled(row: Row, best: Pair) -> Pair { return best; }
fn delegate_of(row: Row, best: Pair) -> Pair { return best; }

#endif
