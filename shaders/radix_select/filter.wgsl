// Radix select, the end: the pairs up to the threshold, unsorted.
// source, histogram, progress -> sink, listed
#import thread/list_near
#import workgroup/append
#import workgroup/digits

fn nth_load(n: u32) -> u32 { return n; }
fn ask(sequence: u32, count: u32) -> u32 { return atomicAdd(&listed[count_at(sequence)], count); }
fn places() -> u32 { return params.places; }

fn run(workgroup: u32, local: u32) {
  let sequence = min(workgroup / params.parts, params.sequences - 1u);
  let part = workgroup % params.parts;
  let live = workgroup / params.parts < params.sequences;
  if (is_listed(local, sequence)) { return; }
  if (local == 0u) { collect_none(); }
  let threshold = pair_from(resolve(local, sequence, false).words);
  workgroupBarrier();
  let row = row_of(sequence);
  let run = run_of(part, local, row.loads);
  let end = select(0u, run.y, live);
  let limit = limit_of(row, threshold);
  for (var q = run.x; q < end; q += AGAIN * run.z) { list_near(sequence, row, q, run.z, limit); }
  put_collected(local, sequence);
}
