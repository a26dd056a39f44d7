// Sorts the pairs that each team of a workgroup holds in registers, by a bitonic network.
//
// Invocations exchange pairs by shuffles within a subgroup, and else through `list`.
//   TEAM   invocations of a team, an aligned run of them; a power of two
//   MOVES  1, or the words of a pair where only one of them at a time finds room in `list`
#import thread/network
#import workgroup/lanes
#import io/sink

#if MOVES == 1
alias Moved = Held;
fn moved(held: Held, w: u32) -> Moved { return held; }
fn with_moved(held: Held, w: u32, part: Moved) -> Held { return part; }
#else
alias Moved = u32;
fn moved(held: Held, w: u32) -> Moved { return held[w]; }
fn with_moved(held: Held, w: u32, part: Moved) -> Held {
  var changed = held;
  changed[w] = part;
  return changed;
}
#endif

const SORTED: u32 = ITEMS_PER_THREAD * WORKGROUP;

var<workgroup> list: array<Moved, SORTED + WORKGROUP>;

// A spare place after each invocation's keeps the banks apart.
fn place(rank: u32) -> u32 { return rank + (rank >> ITEM_BITS); }

// The pairs of the invocation whose number differs in the bits of a mask. All call it together.
fn of_partner(x: ptr<function, Registers>, local: u32, lanes: u32, mask: u32) -> Registers {
  var others: Registers;
#if SUBGROUPS
  if (mask < lanes) {
#for i in ITEMS_PER_THREAD
    others[$i] = subgroupShuffleXor((*x)[$i], mask);
#endfor
    return others;
  }
#endif
#for w in MOVES
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  list[$iu * WORKGROUP + local] = moved((*x)[$i], $wu);
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  others[$i] = with_moved(others[$i], $wu, list[$iu * WORKGROUP + (local ^ mask)]);
#endfor
#endfor
  return others;
}

// Sorts each team's pairs. An invocation has neighbouring ones then. All call it together.
fn sort_teams(x: ptr<function, Registers>, local: u32, lanes: u32) {
  sort_registers(x);
  for (var reach = 1u; reach < TEAM; reach *= 2u) {
    let mirrored = of_partner(x, local, lanes, 2u * reach - 1u);
#for i in ITEMS_PER_THREAD
    (*x)[$i] = one_held((*x)[$i], mirrored[$[ITEMS_PER_THREAD - 1 - i]], (local & reach) == 0u);
#endfor
    for (var mask = reach / 2u; mask > 0u; mask /= 2u) {
      let others = of_partner(x, local, lanes, mask);
#for i in ITEMS_PER_THREAD
      (*x)[$i] = one_held((*x)[$i], others[$i], (local & mask) == 0u);
#endfor
    }
    merge_registers(x);
  }
}

// Sorts each team's pairs and puts the first k, side by side. All call it together.
fn put_sorted(sequence: u32, x: ptr<function, Registers>, local: u32, lanes: u32) {
  sort_teams(x, local, lanes);
  let lane = local % TEAM;
  let home = (local - lane) * (ITEMS_PER_THREAD + 1u);
#for w in MOVES
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  list[home + place(lane * ITEMS_PER_THREAD + $iu)] = moved((*x)[$i], $wu);
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  (*x)[$i] = with_moved((*x)[$i], $wu, list[home + place($iu * TEAM + lane)]);
#endfor
#endfor
  if (sequence >= params.sequences) { return; }
  let to = target_of(sequence);
#for i in ITEMS_PER_THREAD
  if ($iu * TEAM + lane < params.k) { put_to(to, $iu * TEAM + lane, pair_held((*x)[$i])); }
#endfor
}
