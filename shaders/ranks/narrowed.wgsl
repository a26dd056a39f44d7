// The pairs at several ranks of lists, by a workgroup each: source (lists), progress, bounds ->
// pairs.
//
// It reads what lies behind a list, where the wanted ones are. Where there were too many, the list.
#import workgroup/rank_rows
#import io/rank_groups
#import io/rank_pairs

// As ranks/narrow leaves it.
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;
@group(0) @binding(9) var<storage, read_write> narrowed: array<u32>;        // [list]

var<workgroup> shared_begun: u32;

fn count_items(kind: u32, local: u32, list: u32, digit: Digit) {
  var row = row_of(list);
  if (narrowed[list] <= params.longest) {
    row.start += params.places;
    row.loads = narrowed[list];
  }
  count_row(row, local, WORKGROUP, digit);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let list = linear_workgroup(workgroup, grid);
  if (list >= params.sequences) { return; }
  let begun = progress[2u * params.sequences * RANKS + list];
  if (local < RANKS) { slots[local] = progress[(params.sequences + list) * RANKS + local]; }
  if (local == 0u) {
    shared_begun = begun.z;
    shared_differing = ~mask_above(Digit(begun.x, begun.y, 0u));
  }
  if (workgroupUniformLoad(&shared_begun) == 0u) { return; }
  search(0u, local, list, 0u);
  let first = bounds[list % params.chosen];
  let at = list / params.chosen * params.sink_step + params.first_rank + first + local;
  if (local < min(bounds[list % params.chosen + 1u] - first, RANKS)) { put_pair(at, pair_from(slots[local].xyz)); }
}
