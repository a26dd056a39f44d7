// What every kernel has: its entry point, and the parameter block (binding 0), packed by name by
// wgdml/plan/program.py.

struct Params {
  // The problem.
  sequences: u32,         // Sequences of this dispatch.
  length: u32,            // Items of each sequence that this dispatch reads.
  k: u32,                 // Pairs wanted of each sequence.
  first_index: u32,       // Index, within the whole sequence, of this dispatch's first item.
  // The order (lib/order/key.wgsl).
  flip_high: u32,         // Bits in which a key differs from its signed number; of the high word.
  flip_low: u32,          // The same of the low word.
  largest: u32,           // High word of the largest magnitude of floats. NaNs lie above.
  nan_key: u32,           // Each word of the key of every NaN.
  index_flip: u32,        // 0xffffffff where the last index of several wins, else 0.
  // Tensors, in elements.
  input_base: u32,        // Of the first element in the bound window of the input.
  value_base: u32,        // Of the first value output.
  value_step: u32,        // Between consecutive ranks of the value output.
  index_base: u32,        // Of the first index output.
  index_step: u32,        // Between consecutive ranks of the index output.
  index_words: u32,       // Words of an index: 1, or 2 with a zero. 0: no indices are wanted.
  batch_dims: u32,        // Dimensions of the batch, at least 1.
  axis_dims: u32,         // Dimensions selected over, at least 1.
  // Pairs in scratch.
  source_base: u32,       // First pair of the source.
  source_step: u32,       // Pairs between consecutive sequences of the source.
  source_item_step: u32,  // Pairs between consecutive items of the source.
  spread_inner: u32,      // Sequences that lie between two items of one.
  spread_scale: u32,      // Step of the flattened index along the axis that indices count.
  spread_step: u32,       // Step of the flattened index from an item to the next.
  sink_base: u32,         // First pair of the sink.
  sink_step: u32,         // Pairs between consecutive sequences of the sink.
  sink_item_step: u32,    // Pairs between consecutive items of the sink.
  advance: u32,           // Items of each sequence by which a running top-k goes on.
  // How the work is cut.
  parts: u32,             // Parts that each sequence is cut into.
  workgroups: u32,        // Workgroups that take one part after the other.
  neighbours: u32,        // Sequences side by side that neighbours serve, or 1.
  team: u32,              // Invocations that serve a part, a power of two. Down columns, rows.
  turns: u32,             // Turns of loads before a workgroup puts what it has collected.
  stride: u32,            // One load in so many has items of the sample of a row.
  every: u32,             // One item in so many, or load, or run of loads, is in that sample.
  sample_rank: u32,       // Rank in that sample of what may be a threshold.
  buckets: u32,           // Buckets between splitters from that sample, a power of two.
  sample_slack: u32,      // Items of the sample beyond sample_rank that may be up to it.
  beside: u32,            // Down columns, loads side by side that neighbours serve.
  spans: u32,             // Down columns, subsets that an invocation serves, one after the other.
  first_rank: u32,        // First rank that this dispatch writes, or reads of ordered pairs.
  ranks: u32,             // Ranks of the bound sink, from first_rank on. Others are left alone.
  rank_step: u32,         // 1 where each sequence has wanted ranks of its own, else 0.
  propagates: u32,        // 1 where the last of the ranks takes the place of all if it is NaN.
  // Delegates and lists of survivors.
  subsets: u32,           // Subsets of each sequence. Subset p holds the loads p, p + subsets, ...
  bests: u32,             // Of delegates, the best of each class; or the delegates themselves.
  members: u32,           // Loads of each subset, at most.
  team_bests: u32,        // Groups whose bests give the threshold of a team. A power of two.
  slack: u32,             // Delegates more than k that may precede the threshold or equal it.
  places: u32,            // Places of a list.
  longest: u32,           // Pairs of a list that is left as it is; items of a span.
  meeting_places: u32,    // Places of each sequence in a meeting of workgroups.
  // Kernels of software adapters.
  lanes: u32,             // Subsets side by side: they share runs of lanes * members loads.
  runs: u32,              // Lists in order of each sequence.
  ways: u32,              // Lists of which one is made.
  merges: u32,            // Lists of each sequence that come of several of those.
  kept: u32,              // Pairs of each of these.
  slices: u32,            // Invocations that share a chosen subset.
  line: u32,              // Results that are neighbours in memory.
  run: u32,               // As many of a line as an invocation puts, at most.
  key_bits: u32,          // Bits of a key.
  index_bits: u32,        // Bits of an index.
  // Radix select and radix sort.
  digit_word: u32,        // Word with the digit: 0 is the high key word, KEY_WORDS the index.
  digit_shift: u32,       // Lowest bit of the digit.
  digit_bits: u32,        // Bits of the digit.
  previous_word: u32,     // Word of the digit one level up.
  previous_shift: u32,    // Lowest bit of that digit.
  level: u32,             // Number of this digit. 0 is the most significant.
  tiles: u32,             // Tiles of each sequence in this dispatch.
  first_tile: u32,        // First of them. It begins a group.
  groups: u32,            // Groups of tiles of each sequence.
  group: u32,             // Tiles of a group.
  scanned: u32,           // 1 where an earlier dispatch has summed up the groups' counts.
  tile: u32,              // Items of each sequence in a tile.
  tile_columns: u32,      // Columns of a tile that is copied.
  run_items: u32,         // Items of such a tile that are read as one run.
  run_units: u32,         // Words of such a run, or elements of two words.
  digit_step: u32,        // Words from a bound item to the next. Its words count from 0.
  brackets: u32,          // Brackets of each sequence, with a list each.
  parted: u32,            // Pairs in order that part each sequence.
  // Spans of sequences, and payloads.
  least: u32,             // Items of a sequence that are visited, even if fewer take part.
  earlier_ranks: u32,     // Ranks of the outputs before those that are bound.
  nothing_high: u32,      // Bits of the value of a rank without an item, left-aligned.
  nothing_low: u32,       // The low word of a value of two.
  length_form: u32,       // Bits of a length, and 128 where it is signed.
  start_form: u32,        // The same of a start.
  count_form: u32,        // The same of a count.
  index_form: u32,        // The same of an index that is read.
  payload_base: u32,      // Element of the bound window that belongs to the first item.
  payload_step: u32,      // Elements of the payload between items of a sequence.
  // One entry a dimension of the batch, innermost first: size, strides of input, values, indices.
  batch: array<vec4<u32>, 8>,
  // One entry a selected dimension, innermost first: size, input stride, index step, whole size.
  axes: array<vec4<u32>, 8>,
  // Strides of the payload, an entry a dimension of the batch.
  payload_strides: array<vec4<u32>, 2>,
}

@group(0) @binding(0) var<uniform> params: Params;

// Calls a kernel's `run` with the numbers of its workgroup and of the invocation in it. A grid is
// folded to fit the limit of workgroups a dimension, and may have some more than were asked for.
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  run(workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z), local);
}

// Adds the offsets of the flattened index `index` over the batch's dimensions from `first` on.
// A step along a dimension takes back all steps along the one inside it. Most indices end within
// the first, and a loop that may end early is not unrolled, which took a tenth of compiling
// (benchmarks/LOG.md#less-to-compile-on-gpus-2026-12-01-bd45c8c).
fn offsets_along(first: u32, index: u32, start: vec3<u32>) -> vec3<u32> {
  var rest = index;
  var offsets = start + index * params.batch[first].yzw;
  for (var d = first + 1u; d < params.batch_dims; d++) {
    let inner = params.batch[d - 1u];
    if (rest < inner.x) { break; }
    rest /= inner.x;
    offsets += rest * (params.batch[d].yzw - inner.x * inner.yzw);
  }
  return offsets;
}

fn first_offsets() -> vec3<u32> { return vec3<u32>(params.input_base, params.value_base, params.index_base); }

// Element offsets of a sequence: x input, y values, z indices.
//   ONE_BATCH_DIM  1 where a kernel that asks for every rank knows that the batch has one dimension
fn sequence_offsets(sequence: u32) -> vec3<u32> {
#if ONE_BATCH_DIM
  return first_offsets() + sequence * params.batch[0].yzw;
#else
  return offsets_along(0u, sequence, first_offsets());
#endif
}
