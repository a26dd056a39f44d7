// The best item of many loads, for loops that keep one best pair an invocation.
//   IN_ORDER  1 where an invocation meets its items in ascending order of index. Then what is kept is the best key and, in the place of
//             the index, the number of the first load that has it: an item costs its key and a minimum, and `settled` looks up the rest.
//   EXTREMES  1 where the least key is found from bits, for floats whose NaNs come first: three operations an item in place of eight
#import source

#if IN_ORDER

#if EXTREMES

// The largest of some elements' bits as signed numbers, and the least and largest as unsigned ones.
struct Summary { top: i32, low: u32, high: u32 }

fn summary_of(data: Load, c: u32) -> Summary {
  let bits = bits_of(data, c);
  return Summary(bitcast<i32>(bits), bits, bits);
}

fn summary_of_both(a: Summary, b: Summary) -> Summary { return Summary(max(a.top, b.top), min(a.low, b.low), max(a.high, b.high)); }

// Negative floats have the larger bits the smaller they are, and larger ones than all others have; the largest of all are NaNs, of
// either sign.
fn least_key(all: Summary) -> Key {
#if DIRECTION > 0
  let number = select(all.low, bitcast<u32>(all.top), all.top >= 0);
  return key_of(select(number, all.high, all.high > (MINUS | LARGEST)));
#else
  let number = select(all.low, all.high, all.high >= MINUS);
  return key_of(select(number, bitcast<u32>(all.top), all.top > bitcast<i32>(LARGEST)));
#endif
}

#else

alias Summary = Key;

fn summary_of(data: Load, c: u32) -> Summary { return key_in(data, c); }
fn summary_of_both(a: Summary, b: Summary) -> Summary { return key_min(a, b); }
fn least_key(all: Summary) -> Key { return all; }

#endif

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
  var all = summary_of(data, 0u);
#for c in PER_LOAD
  all = summary_of_both(all, summary_of(data, $cu));
#endfor
  let least = least_key(all);
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
    if (key_equal(item$c.key, best.key) && item$c.index < found.index) { found = item$c; }
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

// The best of the loads begin, begin + stride, ... before end; `row` is their sequence.
fn scan_loads(row: Row, begin: u32, end: u32, stride: u32) -> Pair {
  var best = last_pair();
#if IN_ORDER
  // The first load stands where no key comes before the last one.
  if (begin < end) { best.index = begin; }
#endif
  var q = begin;
  if (q < min(first_whole(row), end)) {
    best = best_of(row, q, load(row, q), best);
    q += stride;
  }
  // Several loads in flight at once: the memory's latency is what counts.
  let whole = min(end_whole(row), end);
  for (; q + (UNROLL - 1u) * stride < whole; q += UNROLL * stride) {
#for u in UNROLL
    let data$u = load(row, q + $uu * stride);
#endfor
#for u in UNROLL
    best = best_of_whole(row, q + $uu * stride, data$u, best);
#endfor
  }
  for (; q < end; q += stride) { best = best_of(row, q, load(row, q), best); }
  return best;
}
