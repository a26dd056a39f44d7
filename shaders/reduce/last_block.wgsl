// The best pair of every sequence, by several workgroups in one dispatch: source -> sink.
//
// The params.parts workgroups of a sequence each begin with a round of loads. Where those are not
// all, they come for more until none are left, so they end together. The last to publish its pair
// in `meeting` reduces all.
//   LOADS_EACH  loads of an invocation in a round
#import thread/scan_loads
#import io/sink
#if SUBGROUPS
#import subgroup/tree
#else
#import workgroup/tree

fn team_size() -> u32 { return WORKGROUP; }
#endif
#import workgroup/last_block
#import workgroup/same

const ROUND: u32 = WORKGROUP * LOADS_EACH;  // loads

// Loads of a sequence, known to be the same for all.
#if RAGGED && !SOURCE_PAIRS
fn loads_for_all(local: u32, row: Row) -> u32 { return same_for_all(local, row.loads); }
#else
fn loads_for_all(local: u32, row: Row) -> u32 { return row.loads; }
#endif

// Rounds beyond the first of each part.
fn further_rounds(loads: u32) -> u32 { return max((loads + ROUND - 1u) / ROUND, params.parts) - params.parts; }

// The next of those that nobody has taken, and 0, which ends all, where there are none.
fn further_round(sequence: u32, loads: u32) -> u32 {
  if (further_rounds(loads) == 0u) { return 0u; }
  return next_of(sequence, 1u);
}

// The best of an invocation's loads of all rounds that the workgroup takes.
fn best_of_rounds(local: u32, sequence: u32, part: u32, row: Row) -> Pair {
  var best = last_pair();
  let loads = loads_for_all(local, row);
  for (var turn = part; turn * ROUND < loads; turn = params.parts + workgroupUniformLoad(&shared_word)) {
    if (local == 0u) { shared_word = further_round(sequence, loads); }
    best = scan_further(row, turn * ROUND + local, min((turn + 1u) * ROUND, row.loads), WORKGROUP, best);
  }
  return best;
}

// The best of an invocation's share of what all workgroups published.
fn best_of_parts(local: u32, sequence: u32) -> Pair {
  var best = last_pair();
  for (var part = local; part < params.parts; part += WORKGROUP) {
    let candidate = consume(sequence, part);
    if (before(candidate, best)) { best = candidate; }
  }
  return best;
}

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  let place = place_in_team(local);
  let best = best_of_team(local, place, best_of_rounds(local, sequence, part, row));
  if (local == 0u) { shared_word = arrive(sequence, publish(sequence, part, settled(row, best)), false); }
  if (workgroupUniformLoad(&shared_word) == 0u) { return; }
  let first = best_of_team(local, place, best_of_parts(local, sequence));
  if (local == 0u) {
    end_meeting(sequence);
    put(sequence, 0u, first);
  }
}
