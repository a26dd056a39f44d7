// Counts of digits in earlier tiles: of the group in `counts`, in all groups with `groups`.
#import io/groups

@group(0) @binding(6) var<storage, read_write> counts: array<u32>;  // [sequence][tile][digit]

fn count_at(sequence: u32, tile: u32, digit: u32) -> u32 {
  return (sequence * params.groups * params.group + params.first_tile + tile) * BINS + digit;
}

struct Occurrences { total: u32, earlier: u32 }

// Of a digit in a sequence, and in the tiles before one.
fn occurrences(sequence: u32, tile: u32, digit: u32) -> Occurrences {
  let group = (params.first_tile + tile) / params.group;
  var found = Occurrences();
  if (params.scanned > 0u) {
    found = Occurrences(groups[group_at(sequence, params.groups, digit)], groups[group_at(sequence, group, digit)]);
  } else {
    for (var g = 0u; g < params.groups; g += 16u) {
      // All loads are under way before the first is used.
#for u in 16
      let count$u = groups[group_at(sequence, min(g + $uu, params.groups - 1u), digit)];
#endfor
#for u in 16
      found.total += select(0u, count$u, g + $uu < params.groups);
      found.earlier += select(0u, count$u, g + $uu < group);
#endfor
    }
  }
  if (params.group > 1u) { found.earlier += counts[count_at(sequence, tile, digit)]; }
  return found;
}
