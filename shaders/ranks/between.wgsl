// Lists what lies in brackets, and counts what comes before each: source, brackets -> lists, listed
// and earlier (zeros before); where it is wanted, the last pair of each workgroup, too: -> lasts.
//   COLLECTED  items that a workgroup collects before it asks for places; others ask one by one
#import io/brackets
#import workgroup/between

@group(0) @binding(2) var<storage, read_write> list_keys: array<Key>;        // [list][place]
@group(0) @binding(3) var<storage, read_write> list_indices: array<u32>;
@group(0) @binding(7) var<storage, read_write> earlier: array<atomic<u32>>;  // [sequence][bracket]
@group(0) @binding(8) var<storage, read_write> listed: array<atomic<u32>>;   // [list]

#if LAST
@group(0) @binding(9) var<storage, read_write> lasts: array<vec4<u32>>;      // [sequence][part]
#endif

var<workgroup> starts: array<u32, BRACKETS>;
var<workgroup> collected: array<u32, COLLECTED>;  // places in the row
var<workgroup> origins: array<u32, COLLECTED>;    // their brackets, and places among those
var<workgroup> collected_count: atomic<u32>;

fn bracket_end(sequence: u32, end: u32) -> vec3<u32> { return brackets[2u * BRACKETS * sequence + end].xyz; }

fn put_listed(list: u32, place: u32, pair: Pair) {
  if (place >= params.places) { return; }
  list_keys[list * params.sink_step + place] = pair.key;
  list_indices[list * params.sink_step + place] = pair.index;
}

fn collect(sequence: u32, row: Row, bracket: u32, place: u32) {
  let at = atomicAdd(&collected_count, 1u);
  if (at < COLLECTED) {
    collected[at] = place;
    origins[at] = (bracket << 16u) | atomicAdd(&found[bracket], 1u);
    return;
  }
  // One by one, until the list is too long in any case.
  let list = sequence * BRACKETS + bracket;
  if (atomicLoad(&listed[list]) > params.places) { return; }
  put_listed(list, atomicAdd(&listed[list], 1u), pair_there(row, place));
}

// Asks for places for what is collected, and puts it there. All of a workgroup together.
fn put_collected(local: u32, sequence: u32, row: Row) {
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
    put_listed(sequence * BRACKETS + bracket, starts[bracket] + (origins[i] & 0xffffu), pair_there(row, collected[i]));
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
  if (local == 0u) { atomicStore(&collected_count, 0u); }
  begin_brackets(local, sequence);
  let row = row_of(sequence);
  let stride = params.parts * WORKGROUP;
  // The same for all of a workgroup, which put together what they collect.
  for (var base = id % params.parts * WORKGROUP; base < row.loads; base += AGAIN * params.turns * stride) {
    look_at_loads(sequence, row, base + local, stride, params.turns);
    put_collected(local, sequence, row);
  }
  add_counts(local);
#if LAST
  if (local == 0u) { lasts[id] = vec4<u32>(); }
  let last = last_met(row);
  storageBarrier();
  if (last.index != NO_INDEX) { lasts[id] = vec4<u32>(words_of(last), 1u); }
#endif
  workgroupBarrier();
  if (local < BRACKETS) { atomicAdd(&earlier[sequence * BRACKETS + local], atomicLoad(&sums[local])); }
}
