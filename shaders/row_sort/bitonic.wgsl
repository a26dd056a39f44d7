// The first k pairs of every short sequence, in order, by a bitonic sort: source -> sink.
// One read. A team holds a sequence in registers (lib/workgroup/register_sort.wgsl).
//   LOADS  of an invocation
#import io/source
#if PLACED
#import workgroup/placed_sort
#else
#import workgroup/register_sort
#endif

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup * (WORKGROUP / TEAM) + local / TEAM;
  let lane = local % TEAM;
  let row = row_of(min(sequence, params.sequences - 1u));
#for l in LOADS
  let data$l = load(row, min($lu * TEAM + lane, row.loads - 1u));
#endfor
  var items: Registers;
#for i in ITEMS_PER_THREAD
  items[$i] = nothing_held();
#endfor
#if PLACED
  begin_sums(local);
  begin_any(local);
  let lanes = lanes_of(local);
  // The last key, which many items of ragged rows have, is beyond the range.
  var range = Range(LAST_KEY, Key());
#for l in LOADS
#for c in PER_LOAD
  let pair$[l * PER_LOAD + c] = item(row, $lu * TEAM + lane, data$l, $cu);
  range.least = key_min(range.least, pair$[l * PER_LOAD + c].key);
  range.greatest = key_max(range.greatest, select(pair$[l * PER_LOAD + c].key, Key(), key_equal(pair$[l * PER_LOAD + c].key, LAST_KEY)));
#endfor
#endfor
  let packing = packing_of_range(range_of_team(local, lanes, range));
#for l in LOADS
#for c in PER_LOAD
  let word$[l * PER_LOAD + c] = placed(packing, pair$[l * PER_LOAD + c].key, ($lu * TEAM + lane) * PER_LOAD + $cu);
  items[$[l * PER_LOAD + c]] = select(nothing_held(), word$[l * PER_LOAD + c], pair$[l * PER_LOAD + c].index != NO_INDEX);
#endfor
#endfor
  sort_placed(row, packing, &items, local, lanes);
#else
#for l in LOADS
#for c in PER_LOAD
  items[$[l * PER_LOAD + c]] = held_of(item(row, $lu * TEAM + lane, data$l, $cu));
#endfor
#endfor
  sort_teams(&items, local, lanes_of(local));
#endif
  put_sorted(sequence, &items, local);
}
