// Estimates of brackets by samples of each row, a workgroup each: source, sampled -> brackets.
// They lie [sequence][end][sample]. Where there is one sample, its estimates are the brackets.
//
// A sample is held in registers: runs of RUN loads, one in params.every. Of several samples of a
// row, one has every params.parts-th run.
//   SAMPLED   loads of an invocation
//   HELD      keys that an invocation holds
//   UNROLLED  1 where the time counts, as of many rows, and not what it takes to compile
#import io/brackets
#import workgroup/rank_rows

@group(0) @binding(8) var<storage, read> sampled: array<u32>;  // [end of a bracket]

var<private> held: array<Key, HELD>;

// The slot of a rank of the sample. Where that has no such rank, as 0xffffffff says, an odd slot
// and those beyond the brackets have the last pair of all, an even one the first.
fn slot_sampled(number: u32) -> Slot {
  let rank = sampled[min(number, 2u * BRACKETS - 1u)];
  let last = rank == 0xffffffffu && (number % 2u == 1u || number >= 2u * BRACKETS);
  return Slot(select(vec3<u32>(), vec3<u32>(0xffffffffu), last), rank + 1u);
}

// An invocation's u-th load of a sample. There are fewer where it is not below `sampled_end`.
fn load_sampled(local: u32, part: u32, u: u32) -> u32 {
  let i = u * WORKGROUP + local;
  return (i / RUN * params.parts + part) * RUN * params.every + i % RUN;
}

fn sampled_end() -> u32 { return params.length / PER_LOAD / (RUN * params.every) * RUN * params.every; }

fn hold_sample(local: u32, part: u32, row: Row) {
#for u in SAMPLED
  let data$u = load(row, min(load_sampled(local, part, $uu), row.loads - 1u));
#endfor
#for u in SAMPLED
#for c in PER_LOAD
  held[$[u * PER_LOAD + c]] = key_in(data$u, $cu);
#endfor
#endfor
}

fn count_sample(local: u32, part: u32, row: Row, digit: Digit, above: vec3<u32>) {
  let end = sampled_end();
#if UNROLLED
  // Registers have no numbers that a variable could give.
#for u in SAMPLED
  let v$u = load_sampled(local, part, $uu);
  if ((v$u >= first_whole(row)) & (v$u < end)) {
#for c in PER_LOAD
    count_held(Pair(held[$[u * PER_LOAD + c]], index_in(row.span, v$u * PER_LOAD + $cu - row.skew)), digit, above);
#endfor
  }
#endfor
#else
  for (var u = 0u; u < SAMPLED; u++) {
    let v = load_sampled(local, part, u);
    // A load that begins before the row is left out.
    for (var c = select(PER_LOAD, 0u, (v >= first_whole(row)) & (v < end)); c < PER_LOAD; c++) {
      count_held(Pair(held[u * PER_LOAD + c], index_in(row.span, v * PER_LOAD + c - row.skew)), digit, above);
    }
  }
#endif
}

fn count_items(part: u32, local: u32, sequence: u32, digit: Digit) {
  count_sample(local, part, row_of(sequence), digit, mask_above(digit));
}

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
  if (local < RANKS) { slots[local] = slot_sampled(local); }
  if (local == 0u) { shared_differing = vec3<u32>(0xffffffffu); }
  hold_sample(local, part, row_of(sequence));
  search(part, local, sequence, params.slack);
  if (local < 2u * BRACKETS) {
    let at = (sequence * 2u * BRACKETS + local) * params.parts + part;
    brackets[at] = slots[local];
  }
}
