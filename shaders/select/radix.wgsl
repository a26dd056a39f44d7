// The first k pairs of every sequence, in order, by its k-th subset: input -> sink. One read and a little.
//
// A workgroup serves a sequence. Subset p holds the loads p, p + params.subsets, ..., and each invocation finds the bests of some. The k-th
// of those, by histograms (lib/workgroup/kth.wgsl), or one that up to params.slack more do not come after, is a threshold: the first k
// pairs do not come after it. What does not is listed in workgroup memory, by reading the subsets again that can have some, and sorted
// there. Of a long list only what does not come after its own k-th is kept; one that overflows gives a nearer threshold, and is made again
// (benchmarks/LOG.md#a-list-of-twice-k-2026-11-22-e94cd03).
//   PLACES   of the list, at least LONGEST
//   LONGEST  list that can be sorted, at least params.longest, which is sorted as it is, and that is at least 2 k
//   EACH     pairs of an invocation among which the k-th is looked for: its subsets' bests, or its part of the list
#import workgroup/survivors
#import thread/subset_bests
#import io/sink
#import workgroup/sort_list

var<workgroup> listed: atomic<u32>;
var<workgroup> shared_length: u32;
var<workgroup> shared_pair: Stored;

fn reserve(sequence: u32, places: u32) -> u32 { return atomicAdd(&listed, places); }

fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (place < PLACES) { list[place] = store_of(pair); }
}

fn passes(threshold: Pair, pair: Pair) -> bool { return pair.index != NO_INDEX && !before(threshold, pair); }

#if SECONDS
fn choose_all(items: ptr<function, Items>, first: u32, threshold: Pair) {
#for i in OWN
  if (passes(threshold, (*items)[$i])) {
    if (before(threshold, nexts[$i])) {
      choose_load(best_loads[$i]);
    } else {
      choose(first + $iu * WORKGROUP);
    }
  }
#endfor
}
#else
fn choose_all(items: ptr<function, Items>, first: u32, threshold: Pair) {
#for i in OWN
  if (passes(threshold, (*items)[$i])) { choose(first + $iu * WORKGROUP); }
#endfor
}
#endif

// An invocation's part of the list, or nothing.
fn hold_list(local: u32, length: u32, items: ptr<function, Items>) {
#for i in EACH
  (*items)[$i] = last_pair();
  if (local + $iu * WORKGROUP < length) { (*items)[$i] = pair_of(list[local + $iu * WORKGROUP]); }
#endfor
}

// Lists again what of the list was held.
fn keep_passing(sequence: u32, items: ptr<function, Items>, threshold: Pair) {
#for i in EACH
  if (passes(threshold, (*items)[$i])) { enlist(sequence, reserve(sequence, 1u), (*items)[$i]); }
#endfor
}

// The length of the list, which is complete then and short enough to be sorted; `last` is a pair that none of it comes after.
fn list_survivors(sequence: u32, row: Row, local: u32, items: ptr<function, Items>, last: ptr<function, Pair>) -> u32 {
  let first = local;
  if (local == 0u) {
    choose_none();
    shared_pair = store_of((*items)[0]);
  }
  var any = pair_of(workgroupUniformLoad(&shared_pair));
  var length = 0u;
  var chosen_yet = false;
  loop {
    if (local == 0u) { atomicStore(&listed, 0u); }
    let threshold = kth_of(items, any, local, params.k, params.slack);
    *last = threshold;
    if (length > 0u && length <= PLACES) {
      keep_passing(sequence, items, threshold);
    } else {
      if (!chosen_yet) { choose_all(items, first, threshold); }
      chosen_yet = true;
      workgroupBarrier();
      read_chosen(sequence, row, local, threshold);
    }
    workgroupBarrier();
    if (local == 0u) { shared_length = atomicLoad(&listed); }
    length = workgroupUniformLoad(&shared_length);
    if (length <= params.longest) { break; }
    any = pair_of(list[0]);
    hold_list(local, min(length, PLACES), items);
  }
  return length;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  let row = row_of(min(sequence, params.sequences - 1u));
  var items: Items;
#for i in EACH
  items[$i] = last_pair();
#endfor
  scan_own(row, local, OWN * WORKGROUP, &items);
  var last: Pair;
  let length = list_survivors(sequence, row, local, &items, &last);
  sort_list(local, length, last);
  if (sequence < params.sequences) {
    let to = target_of(sequence);
    for (var rank = local; rank < params.k; rank += WORKGROUP) { put_to(to, rank, pair_of(list[rank])); }
  }
}
