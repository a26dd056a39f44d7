// The best item of a load, for loops that keep one best pair an invocation.
//   FAST      1 for contiguous elements of up to 32 bits in order: a look at their bits tells most of what does not come before
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

// The best of a load of which any item may lie outside the sequence.
fn best_of(row: Row, v: u32, data: Load, best: Pair) -> Pair {
  var found = best;
#for c in PER_LOAD
  found = better(item(row, v, data, $cu), found);
#endfor
  return found;
}

#if FAST

// Bits turned over as those of the best key would be, to become a key, are less than it for every number that comes before it; only
// NaNs of the other sign escape, which `NAN_FLIP` puts past `NAN_EDGE`.
const NAN_FLIP: u32 = select(0x80000000u, 0u, DIRECTION != 0u);
const NAN_EDGE: u32 = select(0xffffffffu, 0x80000000u | LARGEST, NAN_KEY == 0u);

fn flip_of(best: Key) -> u32 {
  let negative = ~u32(bitcast<i32>(best ^ DIRECTION) >> 31u);
  return (SIGN_BIT | (negative & FLOAT_MASK)) ^ DIRECTION;
}

// Whether bits so turned over are the key of a number other than zero, of which there are two.
fn is_key(turned: u32, flip: u32) -> bool {
  let bits = turned ^ flip;
  return key_of(bits) == turned && (bits << 1u) != 0u;
}

// The best of a load whose items all belong to the sequence. Most loads hold nothing better, and few operations tell so.
fn best_of_whole(row: Row, v: u32, data: Load, best: Pair) -> Pair {
  var found = best;
  let flip = flip_of(best.key);
  var least = 0xffffffffu;
  var most = 0u;
#for c in PER_LOAD
  let bits$c = bits_of(data, $cu);
  least = min(least, bits$c ^ flip);
  most = max(most, bits$c ^ NAN_FLIP);
#endfor
  if (least < best.key || most > NAN_EDGE) {
    let index = v * PER_LOAD - row.skew + params.first_index;
    // Then it has the best's sign, and none of the others has a lesser key.
    if (most <= NAN_EDGE && is_key(least, flip)) {
      var c = 0u;
      var open = true;
#for c in PER_LOAD
      open = open && bits$c != (least ^ flip);
      c += select(0u, 1u, open);
#endfor
      found = Pair(least, index + c);
    } else {
#for c in PER_LOAD
      found = better(Pair(key_of(bits$c), index + $cu), found);
#endfor
    }
  }
  return found;
}

#else

fn best_of_whole(row: Row, v: u32, data: Load, best: Pair) -> Pair { return best_of(row, v, data, best); }

#endif

// The best pair of the loads begin, begin + stride, ... before end; `row` is their sequence.
fn scan_loads(row: Row, begin: u32, end: u32, stride: u32) -> Pair {
  var best = last_pair();
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
