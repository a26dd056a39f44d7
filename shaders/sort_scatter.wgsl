// Radix sort, step 3 of 3: every pair to its place by this digit, stably: source (bindings 1 to 3), counts (6), totals (7) -> sink (4, 5).
// A tile is first sorted by the digit in workgroup memory, four bits at a time, so that neighbours are written together.
#import radix
#import sink
#import scan

const EACH: u32 = TILE / WORKGROUP;

var<workgroup> tile_keys: array<Key, TILE>;
var<workgroup> tile_indices: array<u32, TILE>;
var<workgroup> digit_start: array<u32, BINS>;   // where the digit's run starts in the whole sequence
var<workgroup> digit_local: array<u32, BINS>;   // and in the sorted tile
var<workgroup> digit_count: array<atomic<u32>, BINS>;

// Sorts the tile, one run of EACH consecutive pairs an invocation, by four bits of the digit. Counters of 16 bits, two a word.
fn split_tile(local: u32, lowest: u32) {
  var pairs: array<Pair, EACH>;
  var low = vec4<u32>(0u);   // digits 0 to 7
  var high = vec4<u32>(0u);  // digits 8 to 15
  for (var i = 0u; i < EACH; i++) {
    let at = local * EACH + i;
    pairs[i] = Pair(tile_keys[at], tile_indices[at]);
    let digit = tile_digit(pairs[i], lowest);
    let one = 1u << (16u * (digit & 1u));
    let word = (digit >> 1u) & 3u;
    let unit = select(vec4<u32>(0u), vec4<u32>(one), vec4<u32>(word) == vec4<u32>(0u, 1u, 2u, 3u));
    if (digit < 8u) { low += unit; } else { high += unit; }
  }
  let low_scan = scan(local, low);
  let high_scan = scan(local, high);
  var starts: array<u32, 16>;
  var running = 0u;
  for (var digit = 0u; digit < 16u; digit++) {
    let word = (digit >> 1u) & 3u;
    let shift = 16u * (digit & 1u);
    let before = select(high_scan.before[word], low_scan.before[word], digit < 8u);
    let total = select(high_scan.total[word], low_scan.total[word], digit < 8u);
    starts[digit] = running + ((before >> shift) & 0xffffu);
    running += (total >> shift) & 0xffffu;
  }
  for (var i = 0u; i < EACH; i++) {
    let digit = tile_digit(pairs[i], lowest);
    let at = starts[digit];
    starts[digit] = at + 1u;
    tile_keys[at] = pairs[i].key;
    tile_indices[at] = pairs[i].index;
  }
  workgroupBarrier();
}

// Nothing sorts after everything, whatever its bits.
fn tile_digit(pair: Pair, lowest: u32) -> u32 {
  return select((digit_of(pair) >> lowest) & 15u, 15u, pair.index == NO_INDEX);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id / params.members, params.sequences - 1u);
  let tile = id % params.members;
  let live = id / params.members < params.sequences;
  let row = row_of(sequence);
  for (var b = local; b < BINS; b += WORKGROUP) { atomicStore(&digit_count[b], 0u); }
  workgroupBarrier();
  for (var i = local; i < TILE; i += WORKGROUP) {
    let pair = pair_at(row, tile * TILE + i);
    tile_keys[i] = pair.key;
    tile_indices[i] = pair.index;
    if (pair.index != NO_INDEX) { atomicAdd(&digit_count[digit_of(pair)], 1u); }
  }
  workgroupBarrier();

  // Where each digit starts: all smaller digits of the sequence, then the same digit in earlier tiles.
  var carry = vec2<u32>(0u);
  for (var b = 0u; b < BINS; b += WORKGROUP) {
    var mine = vec4<u32>(0u);
    let digit = b + local;
    if (digit < BINS) { mine = vec4<u32>(totals[sequence * BINS + digit], atomicLoad(&digit_count[digit]), 0u, 0u); }
    let sums = scan(local, mine);
    if (digit < BINS) {
      digit_start[digit] = carry.x + sums.before.x + counts[(sequence * BINS + digit) * params.split + params.tile_base + tile];
      digit_local[digit] = carry.y + sums.before.y;
    }
    carry += sums.total.xy;
  }
  workgroupBarrier();

  split_tile(local, 0u);
  if (params.digit_bits > 4u) { split_tile(local, 4u); }

  for (var i = local; i < TILE; i += WORKGROUP) {
    let pair = Pair(tile_keys[i], tile_indices[i]);
    if (live && pair.index != NO_INDEX) {
      let digit = digit_of(pair);
      let rank = digit_start[digit] + i - digit_local[digit] - params.rank_base;
      if (rank < params.rank_count) { put(sequence, rank, pair); }
    }
  }
}
