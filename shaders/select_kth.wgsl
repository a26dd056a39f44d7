// The first k pairs of every sequence, in order, by its k-th subset: elements (binding 1) -> sink (4, 5), reading once and a little.
//
// A workgroup serves a sequence. Subset p holds the loads p, p + params.subsets, ..., and each invocation finds the bests of some. The k-th
// of those, by histograms (lib/kth.wgsl), or one that up to params.rank_count more do not come after, is a threshold: the first k pairs
// do not come after it. What does not is listed in workgroup memory, by reading the subsets again that can have some, and sorted there. Of
// a long list only what does not come after its own k-th is kept; one that overflows gives a nearer threshold, and is made again.
//   PLACES   of the list, at least LONGEST
//   LONGEST  list that is sorted as it is, at least 2 k
//   EACH     pairs of an invocation among which the k-th is looked for: its subsets' bests, or its part of the list
#import chosen
#import own
#import sink
#import sort_list

var<workgroup> listed: atomic<u32>;
var<workgroup> shared_length: u32;
var<workgroup> shared_pair: Stored;

fn reserve(sequence: u32, places: u32) -> u32 { return atomicAdd(&listed, places); }

fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (place < PLACES) { list[place] = store_of(pair); }
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
  let first = first_subset(local);
  scan_own(row, first, OWN * WORKGROUP, &items);
  if (local == 0u) {
    choose_none();
    shared_pair = store_of(items[0]);
  }
  var any = pair_of(workgroupUniformLoad(&shared_pair));

  var length = 0u;
  var chosen_yet = false;
  var threshold = last_pair();
  loop {
    if (local == 0u) { atomicStore(&listed, 0u); }
    threshold = kth_of(&items, any, local, params.k, params.rank_count);
    if (length > 0u && length <= PLACES) {
#for i in EACH
      if (items[$i].index != NO_INDEX && !before(threshold, items[$i])) { enlist(sequence, reserve(sequence, 1u), items[$i]); }
#endfor
    } else {
      if (!chosen_yet) {
#for i in OWN
        if (items[$i].index != NO_INDEX && !before(threshold, items[$i])) {
#if SECONDS
          if (before(threshold, nexts[$i])) {
            choose_load(best_loads[$i]);
          } else {
            choose(first + $iu * LANES);
          }
#else
          choose(first + $iu * LANES);
#endif
        }
#endfor
        chosen_yet = true;
      }
      workgroupBarrier();
      read_chosen(sequence, row, local, threshold);
    }
    workgroupBarrier();
    if (local == 0u) { shared_length = atomicLoad(&listed); }
    length = workgroupUniformLoad(&shared_length);
    if (length <= LONGEST) { break; }
    any = pair_of(list[0]);
#for i in EACH
    items[$i] = last_pair();
    if (local + $iu * WORKGROUP < min(length, PLACES)) { items[$i] = pair_of(list[local + $iu * WORKGROUP]); }
#endfor
  }
  sort_list(local, length, threshold);

  if (sequence < params.sequences) {
    let to = target_of(sequence);
    for (var rank = local; rank < params.k; rank += WORKGROUP) { put_to(to, rank, pair_of(list[rank])); }
  }
}
