// The first k pairs of every part of every sequence, in order: source -> sink. About one read.
//
// A team of params.team invocations serves a part. A strided subset's best pair is its delegate. A
// k-th of the delegates is a threshold, which the first k pairs and their subsets' delegates are
// up to. The team finds it, re-reads the subsets with a delegate up to it, sorts the pairs up to
// it. Exact for every input, as no two pairs are equal. k is at most params.team_bests.
//   UNROLL  loads under way at once where delegates are found; AGAIN where subsets are read again
#import workgroup/team_select

fn team_of(workgroup: u32, local: u32) -> Team {
  let slot = slot_of(local);
  let number = workgroup * teams_of_workgroup() + slot;
  let sequence = number / params.parts;
  let part = number % params.parts;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  // Contiguous parts: neighbours read neighbouring memory, and parts share nothing.
  let chunk = (row.loads + params.parts - 1u) / params.parts;
  let begin = min(part * chunk, row.loads);
  let end = select(begin, min(begin + chunk, row.loads), live);
  let members = (end - begin + team_size() - 1u) / team_size();
  return Team(slot, lane_of(local), live, sequence, part * params.k, row, begin, end, members, team_size());
}

fn run(workgroup: u32, local: u32) {
  select_of_team(team_of(workgroup, local), local);
}
