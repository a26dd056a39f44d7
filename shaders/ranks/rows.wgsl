// The pairs at several ranks of each sequence, by a workgroup each: source, ranks -> pairs.
//
// It reads the sequence once a digit.
#import workgroup/rank_rows
#import io/ranks
#import io/rank_pairs

fn count_items(kind: u32, local: u32, sequence: u32, digit: Digit) { count_row(row_of(sequence), local, WORKGROUP, digit); }

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  if (local < RANKS) { slots[local] = Slot(0u, 0u, 0u, rank_of(sequence, local)); }
  if (local == 0u) { shared_differing = vec3<u32>(0xffffffffu); }
  search(0u, local, sequence, 0u);
  let at = sequence * params.sink_step + params.first_rank;
  if (local < params.ranks) { put_pair(at + local, pair_from(slots[local].xyz)); }
}
