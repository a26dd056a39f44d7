// The pairs at several ranks of sequences in order: source, ranks -> pairs.
#import io/source
#import io/ranks
#import io/rank_pairs

fn run(workgroup: u32, local: u32) {
  let at = workgroup * WORKGROUP + local;
  let sequence = at / params.ranks;
  if (sequence >= params.sequences) { return; }
  put_pair(at, load(row_of(sequence), rank_of(sequence, at % params.ranks) - 1u));
}
