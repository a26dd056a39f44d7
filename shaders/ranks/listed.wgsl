// The pairs at several ranks of lists between brackets of rows, by a workgroup each.
// source (lists), list_counters, ranks, brackets, bounds -> pairs; LISTED is MISSED where a list
// has not all of them
#import io/list_counters
#import workgroup/list_slots
#import workgroup/put_slots
#import workgroup/rank_rows

@group(0) @binding(7) var<storage, read_write> list_counters: array<u32>;

// What kind of items it is, as `search` has it, is how many pairs a list has.
fn count_items(count: u32, local: u32, list: u32, digit: Digit) {
  var row = row_of(list);
  row.loads = count;
  count_row(row, local, WORKGROUP, digit);
}

fn run(list: u32, local: u32) {
  if (list >= params.sequences) { return; }
  let count = list_counters[list_counter(list, LISTED)];
  if (local == 0u) { shared_differing = vec3<u32>(0xffffffffu); }
  if (!take_list(local, list, list_counters[list_counter(list, EARLIER)], count)) {
    if (local == 0u) { list_counters[list_counter(list, LISTED)] = MISSED; }
    return;
  }
  search(count, local, list, 0u);
  put_slots(local, list);
}
