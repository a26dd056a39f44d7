// The first k pairs of every sequence that fits workgroup memory, in order: source -> sink.
// One read. A workgroup carries a sequence in registers, and sorts it by buckets
// (lib/workgroup/sort_list.wgsl).
//   LOADS  of an invocation
#import io/source
#import workgroup/sort_list
#import workgroup/same
#import io/put_ranks

fn ranked(slot: u32, rank: u32) -> Pair { return pair_held(list[rank]); }

fn run(sequence: u32, local: u32) {
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  kth_clear(local);
#for l in LOADS
  let data$l = load(row, min($lu * WORKGROUP + local, row.loads - 1u));
#endfor
  var carried: Carried;
#for l in LOADS
#for c in PER_LOAD
  carried[$lu * PER_LOAD + $cu] = held_of(item(row, $lu * WORKGROUP + local, data$l, $cu));
#endfor
#endfor
  sort_carried(local, same_for_all(local, items_of(row)), params.k, &carried);
  put_ranks_of_one(sequence, 0u, params.k, local);
}
