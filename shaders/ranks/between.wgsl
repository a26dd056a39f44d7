// Lists what lies in brackets, and counts what comes before each: source, brackets -> lists,
// list_counters (zeros before); where it is wanted, the last pair of each workgroup, too: -> lasts.
//
// A listed pair is how far it lies in its bracket.
#import io/list_counters
#import workgroup/between

@group(0) @binding(2) var<storage, read_write> list_keys: array<Key>;        // [list][place]
@group(0) @binding(3) var<storage, read_write> list_indices: array<u32>;
@group(0) @binding(7) var<storage, read_write> list_counters: array<atomic<u32>>;

#if LAST
@group(0) @binding(9) var<storage, read_write> lasts: array<vec4<u32>>;      // [sequence][part]
#endif

var<workgroup> starts: array<u32, BRACKETS>;
var<workgroup> origins: array<u32, COLLECTED>;  // brackets, and places among what those have

var<workgroup> frames: array<Frame, BRACKETS>;

fn put_listed(list: u32, place: u32, pair: Pair) {
  if (place >= params.places) { return; }
  let listed = into_bracket(frames[list % BRACKETS], pair);
  list_keys[list * params.sink_step + place] = listed.key;
  list_indices[list * params.sink_step + place] = listed.index;
}

// One by one, until the list is too long in any case.
fn take_late(sequence: u32, pair: Pair) {
  let bracket = bracket_there(sequence, pair);
  if (bracket == BRACKETS) { return; }
  let list = sequence * BRACKETS + bracket;
  if (atomicLoad(&list_counters[list_counter(list, LISTED)]) > params.places) { return; }
  put_listed(list, atomicAdd(&list_counters[list_counter(list, LISTED)], 1u), pair);
}

// Asks for places for what is collected, and puts it there. All of a workgroup together.
fn put_collected(local: u32, sequence: u32, row: Row) {
  workgroupBarrier();
  let count = min(atomicLoad(&collected_count), COLLECTED);
  for (var i = local; i < count; i += WORKGROUP) {
    let bracket = bracket_there(sequence, pair_collected(row, i));
    origins[i] = NOWHERE;
    if (bracket < BRACKETS) { origins[i] = (bracket << 16u) | atomicAdd(&found[bracket], 1u); }
  }
  workgroupBarrier();
  if (local == 0u) { atomicStore(&collected_count, 0u); }
  if (local < BRACKETS) {
    let mine = atomicLoad(&found[local]);
    if (mine > 0u) { starts[local] = atomicAdd(&list_counters[list_counter(sequence * BRACKETS + local, LISTED)], mine); }
    atomicStore(&found[local], 0u);
  }
  workgroupBarrier();
  for (var i = local; i < count; i += WORKGROUP) {
    let bracket = origins[i] >> 16u;
    if (origins[i] != NOWHERE) {
      put_listed(sequence * BRACKETS + bracket, starts[bracket] + (origins[i] & 0xffffu), pair_collected(row, i));
    }
  }
  workgroupBarrier();
}

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let sequence = workgroup / params.parts;
  if (local < BRACKETS) { frames[local] = frame_of(sequence * BRACKETS + local); }
  begin_brackets(local, sequence);
  let row = row_of(sequence);
  let stride = params.parts * WORKGROUP;
  // The same for all of a workgroup, which put together what they collect.
  for (var base = workgroup % params.parts * WORKGROUP; base < row.loads; base += AGAIN * params.turns * stride) {
    look_at_loads(sequence, row, base + local, stride, params.turns);
    put_collected(local, sequence, row);
  }
  add_counts(local);
#if LAST
  if (local == 0u) { lasts[workgroup] = vec4<u32>(); }
  let last = last_met(row);
  storageBarrier();
  if (last.index != NO_INDEX) { lasts[workgroup] = vec4<u32>(words_of(last), 1u); }
#endif
  workgroupBarrier();
  if (local < BRACKETS) {
    atomicAdd(&list_counters[list_counter(sequence * BRACKETS + local, EARLIER)], atomicLoad(&sums[local]));
  }
}
