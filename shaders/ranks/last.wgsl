// The last pair of each sequence, of those that workgroups met: lasts -> pairs. Of the pairs'
// complements it is the first.
#import io/rank_pairs
#import order/words
#import workgroup/tree

@group(0) @binding(9) var<storage, read_write> lasts: array<vec4<u32>>;  // [sequence][part], or 0

fn team_size() -> u32 { return WORKGROUP; }

fn run(sequence: u32, local: u32) {
  if (sequence >= params.sequences) { return; }
  var mine = last_pair();
  for (var part = local; part < params.parts; part += WORKGROUP) {
    let other = lasts[sequence * params.parts + part];
    let complement = pair_from(~other.xyz);
    if (other.w > 0u && before(complement, mine)) { mine = complement; }
  }
  let best = best_of_team(local, place_in_team(local), mine);
  if (local == 0u) { put_pair(sequence * params.sink_step + params.first_rank, pair_from(~words_of(best))); }
}
