// Radix select, the end: the pairs up to the threshold, unsorted.
// source, histogram, progress -> sink, listed
#import thread/list_near
#import workgroup/append
#import workgroup/rank_levels

// [sequence]: pairs that asked for a place.
@group(0) @binding(8) var<storage, read_write> listed: array<atomic<u32>>;

fn nth_load(n: u32) -> u32 { return n; }
fn ask(sequence: u32, count: u32) -> u32 { return atomicAdd(&listed[sequence], count); }
fn places() -> u32 { return params.places; }

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let sequence = workgroup / params.parts;
  if (!is_wanted(local, sequence)) { return; }
  if (local == 0u) { collect_none(); }
  take_slots(local, sequence);
  let row = row_of(sequence);
  let limit = limit_of(row, pair_from(slots[0].xyz));
  let stride = params.parts * WORKGROUP;
  for (var q = workgroup % params.parts * WORKGROUP + local; q < row.loads; q += AGAIN * stride) {
    list_near(sequence, row, q, stride, limit);
  }
  put_collected(local, sequence);
}
