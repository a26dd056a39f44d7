// The first k pairs of every short sequence, in order, by a bitonic sort: source -> sink.
// One read. A team holds a sequence in registers (lib/workgroup/register_sort.wgsl).
//   LOADS  of an invocation
#import io/source
#import workgroup/register_sort

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid) * (WORKGROUP / TEAM) + local / TEAM;
  let lane = local % TEAM;
  let row = row_of(min(sequence, params.sequences - 1u));
#for l in LOADS
  let data$l = load(row, min($lu * TEAM + lane, row.loads - 1u));
#endfor
  var items: Registers;
#for i in ITEMS_PER_THREAD
  items[$i] = nothing_held();
#endfor
#for l in LOADS
#for c in PER_LOAD
  items[$[l * PER_LOAD + c]] = held_of(item(row, $lu * TEAM + lane, data$l, $cu));
#endfor
#endfor
  put_sorted(sequence, &items, local, lanes_of(local));
}
