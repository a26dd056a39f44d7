// The one parameter block that every kernel reads (binding 0); wgdml/plan/dispatch.py packs it in this order.

struct Params {
  sequences: u32,      // sequences of this dispatch
  length: u32,         // items of each sequence that this dispatch reads
  k: u32,              // pairs wanted of each sequence
  split: u32,          // parts that each sequence is cut into
  input_base: u32,     // element offset of the first element in the bound input window
  input_size: u32,     // elements in the bound input window (emit: others are left alone)
  value_base: u32,     // element offset of the first value output
  value_step: u32,     // elements between consecutive ranks of the value output
  index_base: u32,     // element offset of the first index output
  index_step: u32,     // elements between consecutive ranks of the index output
  source_step: u32,    // pairs between consecutive sequences of the pair source
  source_base: u32,    // first pair of the pair source
  source_item_step: u32,  // and between consecutive items
  sink_step: u32,      // pairs between consecutive sequences of the pair sink
  sink_item_step: u32, // and between consecutive items
  sink_base: u32,      // first pair of the pair sink
  members: u32,        // delegates: loads in each subset of a sequence
  subsets: u32,        // delegates: subsets of each sequence; subset p holds the loads p, p + subsets, ...
  first_index: u32,    // index, within the whole sequence, of this dispatch's first item
  digit_word: u32,     // radix: word of the pair that holds the digit: 0 high key word ... KEY_WORDS = index
  digit_shift: u32,    // radix: lowest bit of the digit
  digit_bits: u32,     // radix: bits of the digit
  before_word: u32,    // radix select: word and lowest bit of the digit one level up
  before_shift: u32,
  level: u32,          // radix select: number of this digit, 0 is the most significant
  rank_base: u32,      // emit: first rank of this dispatch
  rank_count: u32,     // radix sort: ranks from rank_base on that the bound sink holds, others are left alone; lists: places;
                       // gather, kth: how many bests more than k may not come after it; trim: pairs of a list that stays as it is
  tile_base: u32,      // radix sort: this dispatch's first tile, which begins a group
  // One entry a dimension of the batch, innermost first: size, strides of input, values and indices.
  batch: array<vec4<u32>, 8>,
  // One entry a selected dimension, innermost first: size, input stride, step of the flattened index, whole size.
  axes: array<vec4<u32>, 8>,
}

@group(0) @binding(0) var<uniform> params: Params;

// The number of this workgroup in a grid folded to fit the limit of workgroups a dimension.
fn linear_workgroup(workgroup: vec3<u32>, grid: vec3<u32>) -> u32 {
  return workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
}

// Element offsets of a sequence: x input, y values, z indices.
fn sequence_offsets(sequence: u32) -> vec3<u32> {
  var rest = sequence;
  var offsets = vec3<u32>(params.input_base, params.value_base, params.index_base);
#if BATCH_DIMS > 0
  for (var d = 0u; d < BATCH_DIMS - 1u; d++) {
    let dim = params.batch[d];
    let next = rest / dim.x;
    offsets += (rest - next * dim.x) * dim.yzw;
    rest = next;
  }
  offsets += rest * params.batch[BATCH_DIMS - 1u].yzw;
#endif
  return offsets;
}
