// Sorts the pairs that each team of a workgroup holds in registers, by a bitonic network.
//
// Invocations exchange pairs by shuffles within a subgroup, and else through `list`. That has room
// for a word of each pair: what one workgroup takes, others of its processor lack.
//   TEAM    invocations of a team, an aligned run of them; a power of two
//   PLACED  1 where words tell places (lib/workgroup/placed_sort.wgsl), else pairs are held whole
#import thread/network
#import workgroup/lanes
#import workgroup/teams
#import io/sink
#if $[PACKED + PLACED * SOURCE_ROWS] > 0
#import io/put_ranks
#endif

const SORTED: u32 = TEAM * ITEMS_PER_THREAD;        // pairs of a team
const LIST: u32 = TEAM * (ITEMS_PER_THREAD + 1u);  // places of a team

var<workgroup> list: array<u32, TEAMS * LIST>;

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
#for w in HELD_WORDS
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  list[$iu * WORKGROUP + local] = word_held((*x)[$i], $wu);
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  others[$i] = with_word_held(others[$i], $wu, list[$iu * WORKGROUP + (local ^ mask)]);
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

// Lists a word of each pair, in order. All call it together; a barrier is before and behind.
fn list_words(x: ptr<function, Registers>, local: u32, w: u32) {
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  list[local / TEAM * LIST + place(local % TEAM * ITEMS_PER_THREAD + $iu)] = word_held((*x)[$i], w);
#endfor
  workgroupBarrier();
}

#if $[PACKED + PLACED * SOURCE_ROWS] > 0

#if PACKED
fn ranked(slot: u32, rank: u32) -> Pair { return pair_held(Held(list[slot * LIST + place(rank)])); }
#else
var<private> first_sequence: u32;  // of the workgroup

fn ranked(slot: u32, rank: u32) -> Pair { return pair_of_word(row_of(first_sequence + slot), list[slot * LIST + place(rank)]); }
#endif

// Puts the first k of each team's pairs, side by side. `sequence` is the invocation's. Words that
// tell places are listed, in order. All call it together.
fn put_sorted(sequence: u32, x: ptr<function, Registers>, local: u32) {
  let first = sequence - local / TEAM;
#if PACKED
  list_words(x, local, 0u);
#else
  first_sequence = first;
#endif
  put_ranks(first, min(max(params.sequences, first) - first, TEAMS), local);
}

#else

// Puts the first k of each team's pairs, which are in order. `sequence` is the invocation's. Words
// that tell places are listed before; who reads keys of columns again keeps to one. All call it
// together.
fn put_sorted(sequence: u32, x: ptr<function, Registers>, local: u32) {
  let first = sequence - local / TEAM;
  // Neighbours put neighbouring ranks, or those of neighbouring columns.
  let down = ranks_lie_apart();
  let slot = select(local / TEAM, local % TEAMS, down);
  let lane = select(local % TEAM, local / TEAMS, down);
#for w in HELD_WORDS
#if !PLACED
  list_words(x, local, $wu);
#endif
#for i in ITEMS_PER_THREAD
  (*x)[$i] = with_word_held((*x)[$i], $wu, list[slot * LIST + place($iu * TEAM + lane)]);
#endfor
#endfor
  if (first + slot >= params.sequences) { return; }
  let to = target_of(first + slot);
#if PLACED
  let row = row_of(first + slot);
#endif
#for i in ITEMS_PER_THREAD
#if PLACED
  if ($iu * TEAM + lane < params.k) { put_to(to, $iu * TEAM + lane, pair_of_word(row, (*x)[$i])); }
#else
  if ($iu * TEAM + lane < params.k) { put_to(to, $iu * TEAM + lane, pair_held((*x)[$i])); }
#endif
#endfor
}

#endif
