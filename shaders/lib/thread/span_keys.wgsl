// The keys of an invocation's part of a span, in registers, and what bounds the first K of them.
//   LOADS  of an invocation, and one more for the load that the span ends in
//   K      groups of a team's items
#import io/source
#import thread/packed_words

alias Keys = array<u32, (LOADS + 1u) * PER_LOAD>;  // What is not there has the last key.

// The loads lane, lane + size, ... of a sequence. Places count from the first load's first item.
struct Part {
  row: Row,
  size: u32,
  lane: u32,
  end: u32,    // Place behind the span.
  whole: u32,  // Load behind the last whole one.
  ends: bool,  // The load that the span ends in is this invocation's, and not its first.
  listed: u32,
}

// Nothing of a sequence that is not live.
fn part_of(sequence: u32, size: u32, lane: u32, live: bool) -> Part {
  let row = row_of(sequence);
  let end = row.skew + select(0u, real_items(row), live);
  let whole = end / PER_LOAD;
  return Part(row, size, lane, end, whole, end % PER_LOAD > 0u && whole >= size && (whole & (size - 1u)) == lane, 0u);
}

// The place of an item of the load numbered `l` among the part's.
fn place_in(part: Part, l: u32, c: u32) -> u32 { return (l * part.size + part.lane) * PER_LOAD + c; }

fn is_inside(part: Part, place: u32) -> bool { return (place >= part.row.skew) & (place < part.end); }

fn is_whole(part: Part, l: u32) -> bool { return l * part.size + part.lane < part.whole; }

fn read_keys(part: Part, keys: ptr<function, Keys>) {
#for l in LOADS
  let data$l = load(part.row, min($lu * part.size + part.lane, part.row.loads - 1u));
#endfor
  let data_of_end = load(part.row, min(part.whole, part.row.loads - 1u));
#for c in PER_LOAD
  (*keys)[$c] = select(LAST_KEY, key_in(data0, $cu), is_inside(part, place_in(part, 0u, $cu))) >> UNUSED;
#endfor
#for l in LOADS
#if $l > 0
#for c in PER_LOAD
  (*keys)[$[l * PER_LOAD + c]] = LAST_KEY >> UNUSED;
#endfor
  if (is_whole(part, $lu)) {
#for c in PER_LOAD
    (*keys)[$[l * PER_LOAD + c]] = key_in(data$l, $cu) >> UNUSED;
#endfor
  }
#endif
#endfor
#for c in PER_LOAD
  (*keys)[$[LOADS * PER_LOAD + c]] = LAST_KEY >> UNUSED;
#endfor
  if (part.ends) {
#for c in PER_LOAD
    let inside$c = part.whole * PER_LOAD + $cu < part.end;
    (*keys)[$[LOADS * PER_LOAD + c]] = select(LAST_KEY, key_in(data_of_end, $cu), inside$c) >> UNUSED;
#endfor
  }
}

// The least key, and the last of the groups' least ones.
//
// An invocation alone has K groups. Each of two has half of them, and so on.
fn range_of(keys: ptr<function, Keys>, size: u32) -> vec2<u32> {
#for g in K
  var best$g = LAST_KEY >> UNUSED;
#endfor
#for l in LOADS
#for c in PER_LOAD
  best$[(l * PER_LOAD + c) % K] = min(best$[(l * PER_LOAD + c) % K], (*keys)[$[l * PER_LOAD + c]]);
#endfor
#endfor
#for c in PER_LOAD
  best$[c % K] = min(best$[c % K], (*keys)[$[LOADS * PER_LOAD + c]]);
#endfor
  var bound = 0u;
#for m in STEPS
  var last$m = best0;
#for g in K
#if $[(K + (1 << m) - 1) >> m] > $g
  last$m = max(last$m, best$g);
#endif
#endfor
  bound = select(bound, last$m, size >= $[1 << m]u);
#for g in K
#if $[(K + (1 << m) - 1) >> m] > $[g + ((K + (2 << m) - 1) >> (m + 1))]
  best$g = min(best$g, best$[g + ((K + (2 << m) - 1) >> (m + 1))]);
#endif
#endfor
#endfor
  return vec2<u32>(best0, bound);
}
