// Rows of ACROSS loads side by side, params.team of them, a power of two: their pairs in workgroup
// memory.
//   TOGETHER  columns of a load that are dealt with at a time, a divisor of PER_LOAD
#import order/pair
#import io/params

var<workgroup> team_rows: array<Stored, WORKGROUP * TOGETHER>;  // [column][row][load]

// Halves many rows. Returns how many are left for one invocation to look through.
// All invocations call it together, after a barrier.
fn halve_rows(local: u32, row: u32) -> u32 {
  var rows = params.team;
  if (rows <= 32u) { return rows; }
  while (rows > 8u) {
    rows /= 2u;
    if (row < rows) {
#for t in TOGETHER
      {
        let mine = $tu * WORKGROUP + local;
        let other = mine + rows * ACROSS;
        if (before(pair_of(team_rows[other]), pair_of(team_rows[mine]))) { team_rows[mine] = team_rows[other]; }
      }
#endfor
    }
    workgroupBarrier();
  }
  return rows;
}

// The best of so many rows, from a place in the first of them on.
fn best_of_column(first: u32, rows: u32) -> Pair {
  var best = pair_of(team_rows[first]);
  for (var other = 1u; other < rows; other += 4u) {
#for u in 4
    let other$u = pair_of(team_rows[first + min(other + $uu, rows - 1u) * ACROSS]);
#endfor
#for u in 4
    if (before(other$u, best)) { best = other$u; }
#endfor
  }
  return best;
}
