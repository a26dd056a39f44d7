// Items of sequences parted at ranks whose pairs are known: source, ranks, pairs -> sink. One read.
//
// A team reads a sequence turn by turn, and counts kind by kind (lib/io/parted.wgsl).
//   TEAM  invocations of a team, a power of two
//   HELD  items of a sequence that workgroup memory has room for, and all of them; 0 where each
//         goes to the sink as it comes
#import io/parted
#import io/source
#if HELD
#import io/put_ranks
#else
#import io/sink
#endif
#import workgroup/scan
#import workgroup/teams

var<workgroup> earlier: array<u32, TEAMS * (MOST_RANKS + 1u)>;  // [team][kind], in earlier turns

#if HELD
var<workgroup> parted_keys: array<Key, TEAMS * HELD>;  // [team][rank]
var<workgroup> parted_indices: array<u32, TEAMS * HELD>;

fn ranked(slot: u32, rank: u32) -> Pair {
  return Pair(parted_keys[slot * HELD + rank], parted_indices[slot * HELD + rank]);
}

fn put_parted(sequence: u32, team: u32, rank: u32, pair: Pair) {
  parted_keys[team * HELD + rank] = pair.key;
  parted_indices[team * HELD + rank] = pair.index;
}
#else
fn put_parted(sequence: u32, team: u32, rank: u32, pair: Pair) { put(sequence, rank, pair); }
#endif

fn run(workgroup: u32, local: u32) {
  let team = team_number(local);
  let lane = lane_in_team(local);
  let first_sequence = workgroup * TEAMS;
  let live = first_sequence + team < params.sequences;
  let sequence = min(first_sequence + team, params.sequences - 1u);
  let row = row_of(sequence);
  for (var e = local; e < TEAMS * (MOST_RANKS + 1u); e += WORKGROUP) { earlier[e] = 0u; }
  let loads = (params.length + 2u * PER_LOAD - 2u) / PER_LOAD;  // wherever a row begins
  for (var turn = 0u; turn < loads; turn += TEAM) {
    let v = turn + lane;
    let data = load(row, min(v, row.loads - 1u));
#for c in PER_LOAD
    let pair$c = item(row, v, data, $cu);
    var kind$c = 0u;
#endfor
    for (var number = 0u; number < params.ranks; number++) {
      let wanted = wanted_pair(sequence, number);
#for c in PER_LOAD
      kind$c += select(1u, 0u, before(pair$c, wanted));
#endfor
    }
    for (var kind = 0u; kind <= params.ranks; kind++) {
      var count = 0u;
#for c in PER_LOAD
      let mine$c = kind$c == kind && pair$c.index != NO_INDEX;
      count += select(0u, 1u, mine$c);
#endfor
      let sums = scan(local, count);
      var place = earlier[team * (MOST_RANKS + 1u) + kind] + sums.exclusive;
#for c in PER_LOAD
      if (mine$c && live) { put_parted(sequence, team, rank_among(sequence, kind, pair$c, place), pair$c); }
      place += select(0u, 1u, mine$c);
#endfor
      workgroupBarrier();
      if (lane == 0u) { earlier[team * (MOST_RANKS + 1u) + kind] += sums.total; }
    }
  }
#if HELD
  workgroupBarrier();
  put_ranks(first_sequence, min(TEAMS, max(params.sequences, first_sequence) - first_sequence), local);
#endif
}
