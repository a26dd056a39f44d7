// Every pair that does not come after a threshold, in any order: input (binding 1), delegates (2, 3), bests (7, 8) -> lists of candidates
// and thresholds (4, 5), counts (6). Reads the subsets again whose delegates do not come after the threshold; where SECONDS, only the load of
// the delegate if the second key (7) tells that no other load asks for more.
//
// BLOCKS workgroups serve a sequence. Each finds the threshold by itself, a pair that at least k of the sequence's pairs do not come
// after: waiting for one workgroup that does would take longer. The bests fall into EACH * WORKGROUP groups, MERGED in each, neighbours
// in different ones; the k-th of the groups' bests, or one with up to params.rank_count bests between, is the threshold.
//   BESTS  of a sequence, where there are others than the delegates themselves; else 0
//   OWN    delegates of an invocation
//   COLLECTED  pairs that a workgroup collects before it asks for places in the list (lib/collected.wgsl); 0 where each asks
#import chosen
#import sink
#import subsets
#import kth
#if COLLECTED > 0
#import collected
#endif

#if SECONDS
@group(0) @binding(7) var<storage, read_write> second_keys: array<Key>;  // [sequence][subset]
#endif

#if BESTS
@group(0) @binding(7) var<storage, read_write> best_keys: array<Key>;      // [sequence][BESTS]
@group(0) @binding(8) var<storage, read_write> best_indices: array<u32>;

fn best_at(sequence: u32, place: u32) -> Pair {
  if (place >= BESTS) { return last_pair(); }
  return Pair(best_keys[sequence * BESTS + place], best_indices[sequence * BESTS + place]);
}
#else
fn best_at(sequence: u32, place: u32) -> Pair {
  if (place >= params.subsets) { return last_pair(); }
  return delegate_at(sequence, place);
}
#endif

#if COLLECTED > 0
fn ask(sequence: u32, count: u32) -> u32 { return atomicAdd(&counts[sequence], count); }
fn places() -> u32 { return CAPACITY; }
#else
fn reserve(sequence: u32, count: u32) -> u32 { return atomicAdd(&counts[sequence], count); }

fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (place < CAPACITY) { put(sequence, place, pair); }
}
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let live = id / BLOCKS < params.sequences;
  let sequence = min(id / BLOCKS, params.sequences - 1u);
  var items: Items;
#for m in MERGED
#for i in EACH
  let best$[m]x$i = best_at(sequence, ($mu * EACH + $iu) * WORKGROUP + local);
#endfor
#endfor
  // Eight neighbours, and the next eight far away: in sorted data the chosen subsets are neighbours.
#for o in OWN
  let subset$o = ((local / 8u * OWN + $ou) * BLOCKS + id % BLOCKS) * 8u + local % 8u;
  let own$o = delegate_at(sequence, min(subset$o, params.subsets - 1u));
#endfor
#for i in EACH
  items[$i] = best0x$i;
#endfor
#for m in MERGED
#for i in EACH
  if (before(best$[m]x$i, items[$i])) { items[$i] = best$[m]x$i; }
#endfor
#endfor
  if (local == 0u) {
    choose_none();
#if COLLECTED > 0
    collect_none();
#endif
  }
  let threshold = kth_of(&items, best_at(sequence, 0u), local, params.k, params.rank_count);
  if (live && id % BLOCKS == 0u && local == 0u) {
    sink_keys[threshold_place(sequence)] = threshold.key;
    sink_indices[threshold_place(sequence)] = threshold.index;
  }
  let row = row_of(sequence);
#if SECONDS
#for o in OWN
  if (live && subset$o < params.subsets && own$o.index != NO_INDEX && !before(threshold, own$o)) {
    let v = load_of(row, own$o.index);
    let second = second_keys[sequence * params.subsets + subset$o];
    // Another load with the delegate's key comes later.
    let next = Pair(second, select(0u, first_index_in(row, v + params.subsets), key_equal(second, own$o.key)));
    if (before(threshold, next)) {
      choose_load(v);
    } else {
      choose(subset$o);
    }
  }
#endfor
#else
#for o in OWN
  if (live && subset$o < params.subsets && !before(threshold, own$o)) { choose(subset$o); }
#endfor
#endif
  workgroupBarrier();
  read_chosen(sequence, row, local, threshold);
#if COLLECTED > 0
  put_collected(local, sequence);
#endif
}
