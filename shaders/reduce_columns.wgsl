// The best pair of every part of every sequence whose neighbours lie side by side in memory: input (binding 1) -> sink (4, 5); where
// those are delegates, also the second key (6) of each part.
//
// An invocation serves PER_LOAD adjacent sequences (one load), so that loads coalesce whatever the axis, and positions a stride apart.
// WORKGROUP is WORKGROUP / TEAM such groups by TEAM rows.
//   TREE       1 where a team's rows are brought together, as one part; 0 where each is a part
//   DELEGATES  1 where part p is subset p of some: the positions p, p + their number, ...
//   SPANS      subsets that an invocation serves then, one after the other; else 1
//   UNROLL     rows under way at once; of delegates TAIL at the end of a run, as to meet an item twice would spoil their second keys
//   RAGGED     1 where not every run is a multiple of UNROLL
//   OWN        groups of an invocation, LANES apart: more than one for a CPU alone, whose memory is slow across pages (lib/own.wgsl)
//   LOADS_WHOLE 1 where a load brings PER_LOAD items, else one item's element
//   TURNED     1 where results change invocations in workgroup memory, so that neighbours write side by side
//   TOGETHER   sequences of a group whose rows are dealt with at a time, up to TEAM where there is a tree; a divisor of PER_LOAD
#import pair
#import input
#import sink

const GROUPS: u32 = WORKGROUP / TEAM;  // times OWN
#if TEAM > 32
const REST: u32 = 8u;  // rows that are left for one invocation to look through
#else
const REST: u32 = TEAM;
#endif

#if TURNED
var<workgroup> turned: array<Stored, WORKGROUP * PER_LOAD>;  // [group][sequence]
#endif
#if TEAM > 1
var<workgroup> team_rows: array<Stored, WORKGROUP * TOGETHER>;  // [sequence of those TOGETHER][row of the team][group]
#if DELEGATES
var<workgroup> team_seconds: array<Key, WORKGROUP * TOGETHER>;
#endif
#endif

#if DELEGATES
// The least key of the subset's other items, where the sink has the delegate.
@group(0) @binding(6) var<storage, read_write> second_keys: array<Key>;

fn put_second(start: Target, rank: u32, second: Key) { second_keys[start + rank * params.sink_item_step] = second; }
#endif

#if TREE && TEAM > 32
// The better of two rows, in the place of the first. Teams that make delegates are no larger than 32.
fn merge(at: u32, other: u32) {
  let best = pair_of(team_rows[at]);
  let candidate = pair_of(team_rows[other]);
  if (before(candidate, best)) { team_rows[at] = team_rows[other]; }
}
#endif

fn better(candidate: Pair, best: Pair) -> Pair {
#if IN_ORDER
  let wins = key_less(candidate.key, best.key);
#else
  let wins = before(candidate, best);
#endif
  return Pair(select(best.key, candidate.key, wins), select(best.index, candidate.index, wins));
}

#if LOADS_WHOLE
fn load(offset: u32) -> InputLoad { return input[offset / PER_LOAD]; }
#if INPUT_WORDS == 1
fn load_word(data: u32, word: u32) -> u32 { return data; }
#else
fn load_word(data: InputLoad, word: u32) -> u32 { return data[word]; }
#endif
fn bits_of(data: InputLoad, c: u32) -> Key {
#if ELEMENT_BYTES == 8
  return Key(load_word(data, 2u * c + 1u), load_word(data, 2u * c));
#endif
#if ELEMENT_BYTES == 4
  return load_word(data, c);
#endif
#if ELEMENT_BYTES == 2
  return (load_word(data, c >> 1u) << (16u * (1u - (c & 1u)))) & 0xffff0000u;
#endif
#if ELEMENT_BYTES == 1
  return (load_word(data, c >> 2u) << (24u - 8u * (c & 3u))) & 0xff000000u;
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
  let blocks = (all_groups + GROUPS * OWN - 1u) / (GROUPS * OWN);
  let id = linear_workgroup(workgroup, grid);
  let part = id / blocks;
  let y = local / GROUPS;
  let place = (id % blocks) * GROUPS + local % GROUPS;
#for g in OWN
  let group$g = place / LANES * (LANES * OWN) + $gu * LANES + place % LANES;
  let column$g = (group$g % groups) * PER_LOAD;
  let sequence$g = min(group$g / groups * columns + column$g, params.sequences - 1u);
  let live$g = group$g < all_groups && part < params.split;
  let start$g = sequence_offsets(sequence$g).x;
#endfor

  let stride = params.split * TEAM * SPANS;
#if TREE
  let parts = params.split;
#else
  let parts = params.split * TEAM;
#endif
#if TREE && DELEGATES
  let first = part + y * parts * SPANS;
#else
  let first = part * TEAM + y;  // neighbouring rows
#endif
#if SPANS > 1
  for (var span = 0u; span < SPANS; span++) {
#else
  {
    const span = 0u;
#endif
#for g in OWN
#for c in PER_LOAD
    var best$[g]x$c = last_pair();
#if DELEGATES
    var second$[g]x$c = LAST_KEY;
#endif
#endfor
#endfor
    if (live0) {
      var r = span * parts + first;
      let end = params.length;
#if IN_ORDER
      // The first item stands where no key comes before the last one.
      if (r < end) {
        let index = axis_step(r).y + params.first_index;
#for g in OWN
#for c in PER_LOAD
        best$[g]x$c.index = index;
#endfor
#endfor
      }
#endif
#if DELEGATES
      for (; r + (UNROLL - 1u) * stride < end; r += UNROLL * stride) {
#else
      for (; r < end; r += UNROLL * stride) {
#endif
#for u in UNROLL
#if RAGGED && !DELEGATES
        let step$u = axis_step(min(r + $uu * stride, end - 1u));  // the last item, maybe again
#else
        let step$u = axis_step(r + $uu * stride);
#endif
#for g in OWN
        let data$[u]x$g = load(start$g + step$u.x);
#endfor
#endfor
#for u in UNROLL
        let index$u = (step$u.y + params.first_index) ^ INDEX_FLIP;
#for g in OWN
#for c in PER_LOAD
        {
          let pair = Pair(key_of(bits_of(data$[u]x$g, $cu)), index$u);
#if DELEGATES
          second$[g]x$c = key_min(second$[g]x$c, key_max(pair.key, best$[g]x$c.key));
#endif
          best$[g]x$c = better(pair, best$[g]x$c);
        }
#endfor
#endfor
#endfor
      }
#if DELEGATES && UNROLL > 1
      // What is left; beyond the end, a real position with the last key, which wins nothing that it should not.
      for (; r < end; r += TAIL * stride) {
#for u in TAIL
        let step$u = axis_step(min(r + $uu * stride, params.length - 1u));
#for g in OWN
        let data$[u]x$g = load(start$g + step$u.x);
#endfor
#endfor
#for u in TAIL
        let inside$u = r + $uu * stride < end;
        let index$u = (step$u.y + params.first_index) ^ INDEX_FLIP;
#for g in OWN
#for c in PER_LOAD
        {
          let pair = Pair(select(LAST_KEY, key_of(bits_of(data$[u]x$g, $cu)), inside$u), index$u);
#if DELEGATES
          second$[g]x$c = key_min(second$[g]x$c, key_max(pair.key, best$[g]x$c.key));
#endif
          best$[g]x$c = better(pair, best$[g]x$c);
        }
#endfor
#endfor
#endfor
      }
#endif
    }

#for g in OWN
    let target$g = target_of(sequence$g);
#endfor
#if TEAM > 1
    // TOGETHER sequences of each group at a time: their rows in memory, then an invocation for each sequence, or for each row, so that
    // neighbours write side by side.
#for c in PER_LOAD
    team_rows[$cu % TOGETHER * WORKGROUP + local] = store_of(best0x$c);
#if DELEGATES
    team_seconds[$cu % TOGETHER * WORKGROUP + local] = second0x$c;
#endif
    if ($cu % TOGETHER == TOGETHER - 1u) {
      workgroupBarrier();
#if TREE
#if TEAM > 32
      for (var rows = TEAM / 2u; rows >= 8u; rows /= 2u) {
        if (y < rows) {
#for t in TOGETHER
          merge($tu * WORKGROUP + local, $tu * WORKGROUP + local + rows * GROUPS);
#endfor
        }
        workgroupBarrier();
      }
#endif
      if (y < TOGETHER) {
        let at = y * WORKGROUP + local % GROUPS;
        var best = pair_of(team_rows[at]);
#if DELEGATES
        var second = team_seconds[at];
#endif
        for (var other = 1u; other < REST; other++) {
          let candidate = pair_of(team_rows[at + other * GROUPS]);
#if DELEGATES
          second = key_min(key_min(second, team_seconds[at + other * GROUPS]), key_max(candidate.key, best.key));
#endif
          if (before(candidate, best)) { best = candidate; }
        }
        let c = $cu + 1u - TOGETHER + y;
        if (live0 && column0 + c < columns) {
          put_to(target_beside(target0, c), span * parts + part, best);
#if DELEGATES
          put_second(target_beside(target0, c), span * parts + part, second);
#endif
        }
      }
#else
      {
        let other = (id % blocks) * GROUPS + local / TEAM;
        let first_column = other % groups * PER_LOAD;
        let first_target = target_of(min(other / groups * columns + first_column, params.sequences - 1u));
#for t in TOGETHER
        let c$t = $cu + 1u - TOGETHER + $tu;
        if (other < all_groups && first_column + c$t < columns && part < params.split) {
          let to$t = target_beside(first_target, c$t);
          let subset$t = span * parts + part * TEAM + local % TEAM;
          let at$t = $tu * WORKGROUP + local % TEAM * GROUPS + local / TEAM;
          put_to(to$t, subset$t, pair_of(team_rows[at$t]));
          put_second(to$t, subset$t, team_seconds[at$t]);
        }
#endfor
      }
#endif
      workgroupBarrier();
    }
#endfor
#else
#if TURNED
#for c in PER_LOAD
    turned[local * PER_LOAD + $cu] = store_of(best0x$c);
#endfor
    workgroupBarrier();
#for c in PER_LOAD
    {
      let at = $cu * WORKGROUP + local;
      let group = (id % blocks) * GROUPS + at / PER_LOAD;
      let column = group % groups * PER_LOAD + at % PER_LOAD;
      if (group < all_groups && column < columns && part < params.split) {
        put_to(target_of(group / groups * columns + column), part, pair_of(turned[at]));
      }
    }
#endfor
#else
#for g in OWN
#for c in PER_LOAD
    if (live$g && column$g + $cu < columns) {
      put_to(target_beside(target$g, $cu), span * parts + part, best$[g]x$c);
#if DELEGATES
      put_second(target_beside(target$g, $cu), span * parts + part, second$[g]x$c);
#endif
    }
#endfor
#endfor
#endif
#endif
  }
}
