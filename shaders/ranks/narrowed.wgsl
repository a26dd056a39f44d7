// The pairs at several ranks of lists, by a workgroup each: source (lists), narrowed, progress,
// brackets, bounds -> pairs.
//
// It reads what lies behind a list, where the wanted ones are. Where there were too many, the list.
#import workgroup/rank_rows
#import workgroup/put_slots
#import io/list_counters

// As ranks/narrow leaves it. The rank of a slot of a list that was missed is 0.
@group(0) @binding(8) var<storage, read_write> progress: array<vec4<u32>>;
@group(0) @binding(9) var<storage, read_write> narrowed: array<u32>;  // [list]: pairs behind it

fn count_items(kind: u32, local: u32, list: u32, digit: Digit) {
  var row = row_of(list);
  row.loads = progress[list * (RANKS + 1u) + RANKS].x;
  if (narrowed[list] <= params.longest) {
    row.start += params.places;
    row.loads = narrowed[list];
  }
  count_row(row, local, WORKGROUP, digit);
}

fn run(list: u32, local: u32) {
  if (list >= params.sequences) { return; }
  let slot = progress[list * (RANKS + 1u) + min(local, RANKS - 1u)];
  if (local < RANKS) { slots[local] = slot; }
  if (local == 0u) {
    shared_differing = mask_below(Digit(0u, first_shift(), 0u));
    crowds[0] = slot.w;
  }
  if (workgroupUniformLoad(&crowds[0]) == SETTLED) { return; }
  search(0u, local, list, 0u);
  put_slots(local, list);
}
