// The first k of short lists of pairs, in order: a pair's rank counts those before: source -> sink.
// Work grows with the square of the length, but nothing waits: the fastest for a few thousand.
// A workgroup ranks ITEMS pairs.
#import io/source
#import workgroup/rank
#import workgroup/same

fn listed(start: u32, at: u32) -> Pair { return load(Row(start, 0u, 0u), at); }

fn run(workgroup: u32, local: u32) {
  let blocks = (params.length + ITEMS - 1u) / ITEMS;
  if (workgroup / blocks >= params.sequences) { return; }
  let sequence = workgroup / blocks;
  let row = row_of(sequence);
  rank_block(local, sequence, row.start, same_for_all(local, row.loads), workgroup % blocks);
}
