// Items of sequences parted at ranks, an invocation each: source, ranks, pairs -> sink. One read.
//
// The only loops are over items: lavapipe ends an invocation's after 65,535 turns in all.
//   RANKS  a number of ranks, or more
#import io/parted
#import io/sink
#import io/source

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup * WORKGROUP + local;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  let to = target_of(sequence);
  var earlier: array<u32, MOST_RANKS + 1u>;  // [kind]
  for (var v = 0u; v < row.loads; v++) {
    let data = load(row, v);
    for (var c = 0u; c < PER_LOAD; c++) {
      let pair = item(row, v, data, c);
      var kind = 0u;
#for number in RANKS
      kind += select(0u, 1u, ($numberu < params.ranks) & !before(pair, wanted_pair(sequence, min($numberu, params.ranks - 1u))));
#endfor
      if (pair.index != NO_INDEX) {
        put_to(to, rank_among(sequence, kind, pair, earlier[kind]), pair);
        earlier[kind]++;
      }
    }
  }
}
