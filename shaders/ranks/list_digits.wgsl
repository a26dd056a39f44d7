// Counts the first digits of listed pairs: source (lists), list_counters -> list_counters.
#import io/list_counters
#import thread/listed_pairs
#import workgroup/same

@group(0) @binding(7) var<storage, read_write> list_counters: array<atomic<u32>>;

var<workgroup> bins: array<atomic<u32>, BINS>;

fn take_listed(list: u32, row: Row, pair: Pair) { atomicAdd(&bins[first_digit_of(pair)], 1u); }

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let list = workgroup / params.parts;
  var row = row_of(list);
  row.loads = same_for_all(local, min(atomicLoad(&list_counters[list_counter(list, LISTED)]), params.length));
  let first = workgroup % params.parts * WORKGROUP;
  if (first >= row.loads) { return; }
  for (var b = local; b < BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
  workgroupBarrier();
  look_at_list(list, row, first + local, params.parts * WORKGROUP);
  workgroupBarrier();
  // Neighbours add to neighbours, so that they share a request.
  for (var b = local; b < BINS; b += WORKGROUP) {
    let mine = atomicLoad(&bins[b]);
    if (mine != 0u) { atomicAdd(&list_counters[list_counter(list, b)], mine); }
  }
}
