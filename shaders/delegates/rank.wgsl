// The first k of each list of candidates, in order, by counting.
// input, delegates, counts, lists and thresholds -> sink
//
// params.parts workgroups rank a list. One workgroup cuts a list of more than params.longest pairs,
// and then ranks all of it.
//   ITEMS  pairs that a workgroup ranks at a time
#import workgroup/compact
#import workgroup/rank

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
  let start = sequence * params.places;
  var count = asked_for(local, sequence);
  var end = part + 1u;
  if (count > params.longest) {
    if (part > 0u) { return; }
    count = trimmed(local, sequence, start, count);
    end = (count + ITEMS - 1u) / ITEMS;
  }
  for (var block = part; block < end; block++) { rank_block(local, sequence, start, count, block); }
}
