// The first k pairs of every sequence, in order, by selection sort: source -> sink.
//
// An invocation serves a sequence: k times it takes the least pair that the last one precedes.
#import io/source
#import io/sink

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup * WORKGROUP + local;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  let to = target_of(sequence);
  var last = last_pair();
  for (var rank = 0u; rank < params.k; rank++) {
    var least = last_pair();
    for (var v = 0u; v < row.loads; v++) {
      let data = load(row, v);
#for c in PER_LOAD
      let pair$c = item(row, v, data, $cu);
      if ((rank == 0u || before(last, pair$c)) && before(pair$c, least)) { least = pair$c; }
#endfor
    }
    put_to(to, rank, least);
    last = least;
  }
}
