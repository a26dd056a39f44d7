// The pairs at several ranks of each row, by a workgroup each and one read.
// source, ranks, sampled, bounds -> pairs
//
// A sample, which is read again, tells brackets. What lies in them is collected in workgroup
// memory, where the ranks are found. Where a bracket missed, or too much lies in them, the row is
// looked at digit by digit.
//   EVERY      one run of eight loads in so many is the sample
//   COLLECTED  pairs that there is room for
#import workgroup/rank_rows
#import workgroup/between
#import io/ranks
#import io/rank_groups
#import io/rank_pairs

const IN_SAMPLE: u32 = 0u;
const IN_ROW: u32 = 1u;
const IN_BRACKETS: u32 = 2u;

@group(0) @binding(8) var<storage, read> sampled: array<u32>;             // [end of a bracket]

var<workgroup> collected: array<Stored, COLLECTED>;
var<workgroup> collected_count: atomic<u32>;
var<workgroup> missed: atomic<u32>;
var<workgroup> shared_missed: u32;

fn bracket_end(sequence: u32, end: u32) -> vec3<u32> { return slots[end].xyz; }

fn collect(sequence: u32, bracket: u32, pair: Pair) {
  let at = atomicAdd(&collected_count, 1u);
  atomicAdd(&found[bracket], 1u);
  if (at < COLLECTED) { collected[at] = store_of(pair); }
}

// The slot of a rank of the sample. Where that has no such rank, as 0xffffffff says, an odd slot
// and those beyond the brackets have the last pair of all, an even one the first.
fn slot_sampled(number: u32) -> Slot {
  let rank = sampled[min(number, 2u * BRACKETS - 1u)];
  let last = rank == 0xffffffffu && (number % 2u == 1u || number >= 2u * BRACKETS);
  return Slot(select(vec3<u32>(), vec3<u32>(0xffffffffu), last), rank + 1u);
}

fn count_items(kind: u32, local: u32, sequence: u32, digit: Digit) {
  let row = row_of(sequence);
  let above = mask_above(digit);
  if (kind == IN_ROW) { count_row(row, local, WORKGROUP, digit); }
  if (kind == IN_SAMPLE) {
    let loads = params.length / PER_LOAD / (8u * EVERY) * 8u;
    for (var i = local; i < loads; i += WORKGROUP) {
      let v = i / 8u * 8u * EVERY + i % 8u;
      count_load(row, v, load(row, v), digit, above);
    }
  }
  if (kind == IN_BRACKETS) {
    let count = atomicLoad(&collected_count);
    for (var i = local; i < count; i += WORKGROUP) { count_pair(pair_of(collected[i]), digit, above); }
  }
}

// The slots of the wanted ranks among what was collected, and whether all are there.
fn rank_collected(local: u32, sequence: u32) {
  if (local >= RANKS) { return; }
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
  slots[local] = Slot(0u, 0u, 0u, rank);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  if (local == 0u) {
    atomicStore(&collected_count, 0u);
    atomicStore(&missed, 0u);
  }
  if (local < RANKS) { slots[local] = slot_sampled(local); }
  search(IN_SAMPLE, local, sequence, params.slack);
  workgroupBarrier();
  begin_brackets(local, sequence);
  let row = row_of(sequence);
  look_at_loads(sequence, row, local, WORKGROUP, (row.loads + 4u * WORKGROUP - 1u) / (4u * WORKGROUP));
  add_counts();
  workgroupBarrier();
  rank_collected(local, sequence);
  workgroupBarrier();
  if (local == 0u) { shared_missed = atomicLoad(&missed); }
  let misses = workgroupUniformLoad(&shared_missed) > 0u;
  if (misses && local < RANKS) { slots[local] = Slot(0u, 0u, 0u, rank_of(sequence, local)); }
  search(select(IN_BRACKETS, IN_ROW, misses), local, sequence, 0u);
  workgroupBarrier();
  if (local < params.ranks) {
    let pair = pair_from(slots[local].xyz);
    pair_keys[sequence * params.sink_step + params.first_rank + local] = pair.key;
    pair_indices[sequence * params.sink_step + params.first_rank + local] = pair.index;
  }
}
