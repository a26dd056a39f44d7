// The first k of short lists of pairs, in order: a pair's rank counts those before: source -> sink.
// Work grows with the square of the length, but nothing waits: the fastest for a few thousand.
// A workgroup ranks ITEMS pairs.
#import io/source
#import workgroup/rank
#import workgroup/same

fn listed(start: u32, at: u32) -> Pair { return load(Row(start, 0u, 0u), at); }

fn run(workgroup: u32, local: u32) {
  let blocks = (params.length + ITEMS - 1u) / ITEMS;
  let sequence = min(workgroup / blocks, params.sequences - 1u);
  let row = row_of(sequence);
  let length = same_for_all(local, select(0u, row.loads, workgroup / blocks < params.sequences));
  rank_block(local, sequence, row.start, length, workgroup % blocks);
}
