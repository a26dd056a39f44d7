// The pairs at several ranks, once all digits are counted: histogram, progress -> sink.
#import workgroup/rank_levels
#import io/rank_pairs

fn run(sequence: u32, local: u32) {
  if (sequence >= params.sequences) { return; }
  if (!is_wanted(local, sequence)) { return; }
  take_slots(local, sequence);
  let at = sequence * params.sink_step + params.first_rank + local;
  if (local < min(params.ranks, RANKS)) { put_pair(at, pair_from(slots[local].xyz)); }
}
