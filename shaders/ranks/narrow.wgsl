// The pairs of lists that have the first digit of a wanted one, behind each list.
// source (lists), list_counters, ranks, bounds -> lists, narrowed, progress, missed
#import workgroup/list_slots
#import io/list_counters
#import thread/listed_pairs

@group(0) @binding(7) var<storage, read_write> list_counters: array<u32>;
// [list][slot], once the first digit is found; then, of a list, its pairs.
@group(0) @binding(8) var<storage, read_write> progress: array<vec4<u32>>;
// [list], 0 before: pairs behind it.
@group(0) @binding(10) var<storage, read_write> narrowed: array<atomic<u32>>;
// [sequence], 0 before: whether a bracket has not all of its ranks, or its list not all pairs.
@group(0) @binding(9) var<storage, read_write> missed: array<atomic<u32>>;

fn counted(list: u32, slot: u32, bin: u32) -> u32 { return list_counters[list_counter(list, bin)]; }

fn take_listed(list: u32, row: Row, pair: Pair) {
  let prefix = first_digit_of(pair) << first_shift();
  if (slots[slot_of(vec3<u32>(prefix, 0u, 0u))].x != prefix) { return; }
  let at = atomicAdd(&narrowed[list], 1u);
  if (at < params.longest) {
    source_keys[row.start + params.places + at] = pair.key;
    source_indices[row.start + params.places + at] = pair.index;
  }
}

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let list = workgroup / params.parts;
  let part = workgroup % params.parts;
  let count = list_counters[list_counter(list, LISTED)];
  if (!take_list(local, list, list_counters[list_counter(list, EARLIER)], count)) {
    if (part == 0u && local == 0u) { atomicStore(&missed[list / params.brackets], 1u); }
    if (part == 0u && local < RANKS) { progress[list * (RANKS + 1u) + local] = Slot(); }
    return;
  }
  find_owners(local);
  resolve(local, list, Digit(0u, first_shift(), 32u - first_shift()), 0u);
  if (part == 0u && local < RANKS) { progress[list * (RANKS + 1u) + local] = slots[local]; }
  if (part == 0u && local == 0u) { progress[list * (RANKS + 1u) + RANKS] = Slot(count, 0u, 0u, 0u); }
  var row = row_of(list);
  row.loads = count;
  look_at_list(list, row, part * WORKGROUP + local, params.parts * WORKGROUP);
}
