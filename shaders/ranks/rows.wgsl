// The pairs at several ranks of each sequence, by a workgroup each: source, ranks -> pairs.
//
// It reads the sequence once a digit.
//   GATE  1 where only those are looked at of which list_counters tells that a list missed a rank
#import workgroup/rank_rows
#import io/ranks
#import io/rank_pairs
#if GATE
#import io/list_counters
#import workgroup/same

@group(0) @binding(7) var<storage, read_write> list_counters: array<u32>;

fn any_missed(sequence: u32) -> u32 {
  var missed = 0u;
  for (var list = sequence * params.brackets; list < (sequence + 1u) * params.brackets; list++) {
    missed |= select(0u, 1u, list_counters[list_counter(list, LISTED)] == MISSED);
  }
  return missed;
}
#endif

fn count_items(kind: u32, local: u32, sequence: u32, digit: Digit) { count_row(row_of(sequence), local, WORKGROUP, digit); }

fn run(sequence: u32, local: u32) {
  if (sequence >= params.sequences) { return; }
#if GATE
  if (same_for_all(local, any_missed(sequence)) == 0u) { return; }
#endif
  if (local < RANKS) { slots[local] = Slot(0u, 0u, 0u, rank_of(sequence, local)); }
  if (local == 0u) { shared_differing = vec3<u32>(0xffffffffu); }
  search(0u, local, sequence, 0u);
  let at = sequence * params.sink_step + params.first_rank;
  if (local < params.ranks) { put_pair(at + local, pair_from(slots[local].xyz)); }
}
