// The best pair of every part of every sequence whose neighbours lie side by side in memory: input (binding 1) -> sink (4, 5).
//
// An invocation serves PER_LOAD adjacent sequences (one load), so that loads coalesce whatever the axis. WORKGROUP is
// WORKGROUP / TEAM such groups by TEAM rows; part p of a sequence takes the positions p * TEAM + y and every split * TEAM-th after.
//   TREE      1 where a team's rows are brought together, 0 where each gives a pair of its own: those of positions p * TEAM + y
//   SPANS     where each gives that many, of one run of positions after the other; else 1
//   TOGETHER  sequences of a group whose rows are dealt with at a time, up to TEAM where there is a tree; a divisor of PER_LOAD
#import pair
#import input
#import sink

const GROUPS: u32 = WORKGROUP / TEAM;

#if TEAM > 1
var<workgroup> team_rows: array<Stored, WORKGROUP * TOGETHER>;  // [sequence of those TOGETHER][row of the team][group]
#endif

fn better(candidate: Pair, best: Pair) -> Pair {
#if IN_ORDER
  let wins = key_less(candidate.key, best.key);
#else
  let wins = before(candidate, best);
#endif
  return Pair(select(best.key, candidate.key, wins), select(best.index, candidate.index, wins));
}

#if LOADS_VECTORS
fn load(offset: u32) -> vec4<u32> { return input[offset / PER_LOAD]; }
fn bits_of(data: vec4<u32>, c: u32) -> Key {
#if ELEMENT_BYTES == 8
  return Key(data[2u * c + 1u], data[2u * c]);
#endif
#if ELEMENT_BYTES == 4
  return data[c];
#endif
#if ELEMENT_BYTES == 2
  return (data[c >> 1u] << (16u * (1u - (c & 1u)))) & 0xffff0000u;
#endif
#if ELEMENT_BYTES == 1
  return (data[c >> 2u] << (24u - 8u * (c & 3u))) & 0xff000000u;
#endif
}
#else
fn load(offset: u32) -> Key { return element_at(offset); }
fn bits_of(data: Key, c: u32) -> Key { return data; }
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let columns = params.batch[0].x;
  let groups = (columns + PER_LOAD - 1u) / PER_LOAD;
  let all_groups = params.sequences / columns * groups;
  let blocks = (all_groups + GROUPS - 1u) / GROUPS;
  let id = linear_workgroup(workgroup, grid);
  let part = id / blocks;
  let group = (id % blocks) * GROUPS + local % GROUPS;
  let y = local / GROUPS;
  let column = (group % groups) * PER_LOAD;
  let sequence = group / groups * columns + column;
  let live = group < all_groups && part < params.split;

  let stride = params.split * TEAM;
#if SPANS > 1
  let rows = (params.length + SPANS * stride - 1u) / (SPANS * stride) * stride;
  for (var span = 0u; span < SPANS; span++) {
#else
  {
    let rows = params.length;
    const span = 0u;
#endif
#for c in PER_LOAD
    var best$c = last_pair();
#endfor
    if (live) {
      let start = sequence_offsets(sequence).x;
      var r = span * rows + part * TEAM + y;
      let end = min((span + 1u) * rows, params.length);
#if IN_ORDER
      // The first item stands where no key comes before the last one.
      if (r < end) {
        let index = axis_step(r).y + params.first_index;
#for c in PER_LOAD
        best$c.index = index;
#endfor
      }
#endif
      for (; r + (UNROLL - 1u) * stride < end; r += UNROLL * stride) {
#for u in UNROLL
        let step$u = axis_step(r + $uu * stride);
        let data$u = load(start + step$u.x);
#endfor
#for u in UNROLL
        let index$u = (step$u.y + params.first_index) ^ INDEX_FLIP;
#for c in PER_LOAD
        best$c = better(Pair(key_of(bits_of(data$u, $cu)), index$u), best$c);
#endfor
#endfor
      }
      for (; r < end; r += stride) {
        let step = axis_step(r);
        let data = load(start + step.x);
        let index = (step.y + params.first_index) ^ INDEX_FLIP;
#for c in PER_LOAD
        best$c = better(Pair(key_of(bits_of(data, $cu)), index), best$c);
#endfor
      }
    }

#if TEAM > 1
    // TOGETHER sequences of each group at a time: their rows in memory, then an invocation for each sequence, or for each row, so that
    // neighbours write side by side.
#for c in PER_LOAD
    team_rows[$cu % TOGETHER * WORKGROUP + local] = store_of(best$c);
    if ($cu % TOGETHER == TOGETHER - 1u) {
      workgroupBarrier();
#if TREE
      if (y < TOGETHER) {
        let first = y * WORKGROUP + local % GROUPS;
        var best = pair_of(team_rows[first]);
        for (var other = 1u; other < TEAM; other++) {
          let candidate = pair_of(team_rows[first + other * GROUPS]);
          if (before(candidate, best)) { best = candidate; }
        }
        let c = $cu + 1u - TOGETHER + y;
        if (live && column + c < columns) { put(sequence + c, part, best); }
      }
#else
      {
        let other = (id % blocks) * GROUPS + local / TEAM;
        let first_column = other % groups * PER_LOAD;
#for t in TOGETHER
        let c$t = $cu + 1u - TOGETHER + $tu;
        if (other < all_groups && first_column + c$t < columns && part < params.split) {
          put(other / groups * columns + first_column + c$t, span * stride + part * TEAM + local % TEAM,
              pair_of(team_rows[$tu * WORKGROUP + local % TEAM * GROUPS + local / TEAM]));
        }
#endfor
      }
#endif
      workgroupBarrier();
    }
#endfor
#else
#for c in PER_LOAD
    if (live && column + $cu < columns) { put(sequence + $cu, span * stride + part, best$c); }
#endfor
#endif
  }
}
