// Lists what lies in brackets, and counts what comes before each: source, brackets -> sink (lists),
// listed and earlier (zeros before).
//
// Brackets are in order. One that overlaps the next ends where that begins. Nearly all items differ
// from every bracket's keys, which then tell all: two comparisons a bracket in registers.
//   BRACKETS   of a sequence
//   COLLECTED  pairs that a workgroup collects before it asks for places; others ask one by one
#import io/source
#import io/brackets

@group(0) @binding(2) var<storage, read_write> list_keys: array<Key>;     // [list][place]
@group(0) @binding(3) var<storage, read_write> list_indices: array<u32>;
@group(0) @binding(7) var<storage, read_write> earlier: array<atomic<u32>>;  // [sequence][bracket]
@group(0) @binding(8) var<storage, read_write> listed: array<atomic<u32>>;   // [list]

var<private> lows: array<Pair, BRACKETS>;
var<private> highs: array<Pair, BRACKETS>;
var<private> counts: array<u32, BRACKETS>;  // an invocation's items before each bracket

var<workgroup> sums: array<atomic<u32>, BRACKETS>;
var<workgroup> found: array<atomic<u32>, BRACKETS>;  // pairs of each list that are collected
var<workgroup> starts: array<u32, BRACKETS>;
var<workgroup> collected: array<Stored, COLLECTED>;
var<workgroup> origins: array<u32, COLLECTED>;       // their brackets, and places among those
var<workgroup> collected_count: atomic<u32>;

fn pair_from(words: vec3<u32>) -> Pair {
#if KEY_WORDS == 1
  return Pair(words.x, words.y);
#else
  return Pair(words.xy, words.z);
#endif
}

fn begin(local: u32, sequence: u32) {
#for b in BRACKETS
  lows[$b] = pair_from(low_of(sequence * BRACKETS + $bu));
  highs[$b] = pair_from(high_of(sequence * BRACKETS + $bu));
#endfor
  if (local < BRACKETS) {
    atomicStore(&sums[local], 0u);
    atomicStore(&found[local], 0u);
  }
  if (local == 0u) { atomicStore(&collected_count, 0u); }
  workgroupBarrier();
}

fn put_listed(list: u32, at: u32, pair: Pair) {
  if (at >= params.places) { return; }
  list_keys[list * params.places + at] = pair.key;
  list_indices[list * params.places + at] = pair.index;
}

fn collect(sequence: u32, bracket: u32, pair: Pair) {
  let at = atomicAdd(&collected_count, 1u);
  if (at < COLLECTED) {
    collected[at] = store_of(pair);
    origins[at] = (bracket << 16u) | atomicAdd(&found[bracket], 1u);
    return;
  }
  // One by one, until the list is too long in any case.
  let list = sequence * BRACKETS + bracket;
  if (atomicLoad(&listed[list]) <= params.places) { put_listed(list, atomicAdd(&listed[list], 1u), pair); }
}

// Counts an item by its key. True where the key alone does not tell.
fn count_key(key: Key) -> bool {
  var near = false;
#for b in BRACKETS
  let precedes$b = key_less(key, lows[$b].key);
  counts[$b] += select(0u, 1u, precedes$b);
  near = near | !(precedes$b | key_less(highs[$b].key, key));
#endfor
  return near;
}

// An item that has a bracket's key, or lies between its keys: after `count_key`.
fn look_at(sequence: u32, pair: Pair) {
  if (pair.index == NO_INDEX) { return; }
  var bracket = BRACKETS;
#for b in BRACKETS
  if (before(pair, lows[$b])) {
    counts[$b] += select(0u, 1u, key_equal(pair.key, lows[$b].key));
  } else {
    bracket = select($bu, BRACKETS, before(highs[$b], pair));
  }
#endfor
  if (bracket < BRACKETS) { collect(sequence, bracket, pair); }
}

fn look_at_load(sequence: u32, row: Row, v: u32, data: Load) {
  var near = 0u;  // a bit an item
  if (v >= first_whole(row) && v < end_whole(row)) {
#for c in PER_LOAD
    near |= select(0u, 1u << $cu, count_key(key_in(data, $cu)));
#endfor
  } else {
#for c in PER_LOAD
    near |= select(0u, 1u << $cu, count_key(item(row, v, data, $cu).key));
#endfor
  }
  for (; near != 0u; near &= near - 1u) { look_at(sequence, pair_at(row, v * PER_LOAD + firstTrailingBit(near) - row.skew)); }
}

// Asks for places for what is collected, and puts it there. All of a workgroup together.
fn put_collected(local: u32, sequence: u32) {
  workgroupBarrier();
  let count = atomicLoad(&collected_count);
  if (local < BRACKETS) {
    let mine = atomicLoad(&found[local]);
    if (mine > 0u) { starts[local] = atomicAdd(&listed[sequence * BRACKETS + local], mine); }
    atomicStore(&found[local], 0u);
  }
  workgroupBarrier();
  for (var i = local; i < min(count, COLLECTED); i += WORKGROUP) {
    let bracket = origins[i] >> 16u;
    put_listed(sequence * BRACKETS + bracket, starts[bracket] + (origins[i] & 0xffffu), pair_of(collected[i]));
  }
  workgroupBarrier();
  if (local == 0u) { atomicStore(&collected_count, 0u); }
  workgroupBarrier();
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  if (id / params.parts >= params.sequences) { return; }
  let sequence = id / params.parts;
  begin(local, sequence);
  let row = row_of(sequence);
  let stride = params.parts * WORKGROUP;
  // The same for all of a workgroup, which put together what they collect.
  for (var base = id % params.parts * WORKGROUP; base < row.loads; base += 4u * params.turns * stride) {
    for (var turn = 0u; turn < params.turns; turn++) {
      let q = base + 4u * turn * stride + local;
#for u in 4
      let v$u = min(q + $uu * stride, row.loads - 1u);
      let data$u = load(row, v$u);
#endfor
#for u in 4
      if (q + $uu * stride < row.loads) { look_at_load(sequence, row, v$u, data$u); }
#endfor
    }
    put_collected(local, sequence);
  }
#for b in BRACKETS
  atomicAdd(&sums[$b], counts[$b]);
#endfor
  workgroupBarrier();
  if (local < BRACKETS) { atomicAdd(&earlier[sequence * BRACKETS + local], atomicLoad(&sums[local])); }
}
