// The pairs at several ranks of each row, by a workgroup each and one read.
// source, ranks, sampled, bounds -> pairs
//
// A sample tells brackets. The places of what lies in them are collected in workgroup memory. The
// keys of both are held in registers, where the ranks are found. Where a bracket missed, or too
// much lies in them, the row is looked at digit by digit.
//   COLLECTED_EACH  places for each invocation
#import workgroup/rank_sample
#import workgroup/between
#import io/ranks
#import io/rank_groups
#import io/rank_pairs

const IN_SAMPLE: u32 = 0u;
const IN_ROW: u32 = 1u;
const IN_BRACKETS: u32 = 2u;

var<workgroup> missed: atomic<u32>;
var<workgroup> shared_missed: u32;

fn bracket_end(sequence: u32, end: u32) -> vec3<u32> { return slots[end].xyz; }

// There is no room for it, as collected_count tells.
fn take_late(sequence: u32, pair: Pair) {}

// Holds the keys of what was collected, and counts each bracket's.
fn hold_collected(local: u32, sequence: u32, row: Row) {
  let count = min(atomicLoad(&collected_count), COLLECTED);
#for i in COLLECTED_EACH
  if ($iu * WORKGROUP + local < count) {
    let pair = pair_collected(row, $iu * WORKGROUP + local);
    held[$i] = pair.key;
    let bracket = bracket_there(sequence, pair);
    if (bracket < BRACKETS) { atomicAdd(&found[bracket], 1u); } else { collected[$iu * WORKGROUP + local] = NOWHERE; }
  }
#endfor
}

fn count_items(kind: u32, local: u32, sequence: u32, digit: Digit) {
  let row = row_of(sequence);
  let above = mask_above(digit);
  if (kind == IN_ROW) { count_row(row, local, WORKGROUP, digit); }
  if (kind == IN_SAMPLE) { count_sample(local, 0u, row, digit, above); }
  if (kind == IN_BRACKETS) {
    let count = min(atomicLoad(&collected_count), COLLECTED);
#for i in COLLECTED_EACH
    if ($iu * WORKGROUP + local < count && collected[$iu * WORKGROUP + local] != NOWHERE) {
      count_held(Pair(held[$i], index_in(row.span, collected[$iu * WORKGROUP + local] - row.skew)), digit, above);
    }
#endfor
  }
}

// Whether all of the wanted ranks are among what was collected. Its slots. All call it together.
fn rank_collected(local: u32, sequence: u32) -> bool {
  let low = bracket_end(sequence, 0u);
  let differing = low ^ bracket_end(sequence, 2u * BRACKETS - 1u);
  workgroupBarrier();
  if (local < RANKS) {
    let slot = min(local, params.ranks - 1u);
    var earlier = 0u;  // items that precede the slot's bracket
    var others = 0u;   // and those of them in brackets
    var own = 0u;
    for (var b = 0u; b < BRACKETS && bounds[b] <= slot; b++) {
      earlier = atomicLoad(&sums[b]);
      others += own;
      own = atomicLoad(&found[b]);
    }
    let rank = rank_of(sequence, local) + others - earlier;
    if (rank <= others || rank > others + own || atomicLoad(&collected_count) > COLLECTED) { atomicStore(&missed, 1u); }
    slots[local] = Slot(common_of(low, differing), rank);
  }
  if (local == 0u) { shared_differing = differing; }
  workgroupBarrier();
  if (local == 0u) { shared_missed = atomicLoad(&missed); }
  return workgroupUniformLoad(&shared_missed) == 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  if (local == 0u) {
    atomicStore(&missed, 0u);
    shared_differing = vec3<u32>(0xffffffffu);
  }
  if (local < RANKS) { slots[local] = slot_sampled(local); }
  hold_sample(local, 0u, row);
  search(IN_SAMPLE, local, sequence, params.slack);
  begin_brackets(local, sequence);
  look_at_loads(sequence, row, local, WORKGROUP, (row.loads + AGAIN * WORKGROUP - 1u) / (AGAIN * WORKGROUP));
  add_counts(local);
  let at = sequence * params.sink_step + params.first_rank;
#if LAST
  let last = last_met(row);
  if (last.index != NO_INDEX) { put_pair(at + params.ranks, last); }
#endif
  workgroupBarrier();
  hold_collected(local, sequence, row);
  workgroupBarrier();
  let all_there = rank_collected(local, sequence);
  if (!all_there) {
    if (local < RANKS) { slots[local] = Slot(0u, 0u, 0u, rank_of(sequence, local)); }
    if (local == 0u) { shared_differing = vec3<u32>(0xffffffffu); }
  }
  search(select(IN_ROW, IN_BRACKETS, all_there), local, sequence, 0u);
  if (local < params.ranks) { put_pair(at + local, pair_from(slots[local].xyz)); }
}
