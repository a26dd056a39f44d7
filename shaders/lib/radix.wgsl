// What the steps of the radix sort share: least significant digit first, stable, tiles of TILE items, BINS digits. GROUP neighbouring tiles
// are a group: a sequence has params.split of those.
//   DIGIT_WORD  word of the pair that holds the digit: 0 high key word ... KEY_WORDS = index
//   SCANNED     1 where sort_scan sums up the groups; else who asks does, LOOK at a time
#import source
#import groups

#if GROUP > 1
@group(0) @binding(6) var<storage, read_write> counts: array<u32>;  // [sequence][tile][digit]: in earlier tiles of the group
#endif

fn count_at(sequence: u32, tile: u32, digit: u32) -> u32 {
  return (sequence * params.split * GROUP + params.tile_base + tile) * BINS + digit;
}

fn digit_of(pair: Pair) -> u32 {
  let word = word_of_pair(pair, DIGIT_WORD);
  return (word >> params.digit_shift) & ((1u << params.digit_bits) - 1u);
}

struct Occurs { total: u32, earlier: u32 }

// How often a digit occurs in a sequence, and in the tiles before one.
fn occurs(sequence: u32, tile: u32, digit: u32) -> Occurs {
  let group = (params.tile_base + tile) / GROUP;
#if SCANNED
  var found = Occurs(groups[group_at(sequence, params.split, digit)], groups[group_at(sequence, group, digit)]);
#else
  var found = Occurs();
  for (var g = 0u; g < params.split; g += LOOK) {
    // All loads are under way before the first is used.
#for u in LOOK
    let count$u = groups[group_at(sequence, min(g + $uu, params.split - 1u), digit)];
#endfor
#for u in LOOK
    found.total += select(0u, count$u, g + $uu < params.split);
    found.earlier += select(0u, count$u, g + $uu < group);
#endfor
  }
#endif
#if GROUP > 1
  found.earlier += counts[count_at(sequence, tile, digit)];
#endif
  return found;
}

// The loads that hold the items from `start` to before `end`.
fn first_load(row: Row, start: u32) -> u32 { return (start + row.skew) / PER_LOAD; }
fn end_load(row: Row, end: u32) -> u32 { return (end + row.skew + PER_LOAD - 1u) / PER_LOAD; }
