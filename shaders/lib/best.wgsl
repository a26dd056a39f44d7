// The best item of a load, for loops that keep one best pair an invocation.
//   IN_ORDER  1 where an invocation meets its items in ascending order of index: a tie then keeps the earlier one
#import source

fn better(candidate: Pair, best: Pair) -> Pair {
#if IN_ORDER
  let wins = key_less(candidate.key, best.key);
#else
  let wins = before(candidate, best);
#endif
  return Pair(select(best.key, candidate.key, wins), select(best.index, candidate.index, wins));
}

#if SOURCE_ROWS && IN_ORDER && KEY_WORDS == 1

// Most loads hold nothing better: look at their smallest key first.
fn best_of(row: Row, v: u32, data: Load, best: Pair) -> Pair {
  var found = best;
  if (whole(row, v)) {
#for c in PER_LOAD
    let key$c = key_of(bits_of(data, $cu));
#endfor
    var least = key0;
#for c in PER_LOAD
    least = min(least, key$c);
#endfor
    if (least < best.key) {
      var c = 0u;
      var open = true;
#for c in PER_LOAD
      open = open && key$c != least;
      c += select(0u, 1u, open);
#endfor
      found = Pair(least, v * PER_LOAD - row.skew + params.first_index + c);
    }
  } else {
#for c in PER_LOAD
    found = better(item(row, v, data, $cu), found);
#endfor
  }
  return found;
}

#else

fn best_of(row: Row, v: u32, data: Load, best: Pair) -> Pair {
  var found = best;
#for c in PER_LOAD
  found = better(item(row, v, data, $cu), found);
#endfor
  return found;
}

#endif

// The best pair of the loads begin, begin + stride, ... before end (counted before gathering); `row` is their sequence.
fn scan_loads(row: Row, begin: u32, end: u32, stride: u32) -> Pair {
  var best = last_pair();
  var q = begin;
  // Several loads in flight at once: the memory's latency is what counts.
  for (; q + (UNROLL - 1u) * stride < end; q += UNROLL * stride) {
#for u in UNROLL
    let v$u = load_of(row, q + $uu * stride);
    let data$u = load(row, v$u);
#endfor
#for u in UNROLL
    best = best_of(row, v$u, data$u, best);
#endfor
  }
  for (; q < end; q += stride) {
    let v = load_of(row, q);
    best = best_of(row, v, load(row, v), best);
  }
#if IN_ORDER
  // No key came before the last one: the first item that there is wins.
  for (q = begin; q < end && best.index == NO_INDEX; q += stride) {
    let data = load(row, q);
#for c in PER_LOAD
    let item$c = item(row, q, data, $cu);
    if (before(item$c, best)) { best = item$c; }
#endfor
  }
#endif
  return best;
}
