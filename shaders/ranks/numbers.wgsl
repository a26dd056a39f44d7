// How many items of each sequence are numbers, not NaN: source -> numbers (zeros before).
#import io/source

@group(0) @binding(6) var<storage, read_write> numbers: array<atomic<u32>>;  // as the indices lie

var<workgroup> counted: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let live = id / params.parts < params.sequences;
  let sequence = min(id / params.parts, params.sequences - 1u);
  if (local == 0u) { atomicStore(&counted, 0u); }
  workgroupBarrier();
  let row = row_of(sequence);
  var count = 0u;
  for (var v = id % params.parts * WORKGROUP + local; v < row.loads; v += params.parts * WORKGROUP) {
    let data = load(row, v);
#for c in PER_LOAD
    let pair$c = item(row, v, data, $cu);
    count += select(1u, 0u, (pair$c.index == NO_INDEX) | is_nan(pair$c.key));
#endfor
  }
  atomicAdd(&counted, count);
  workgroupBarrier();
  if (live && local == 0u) { atomicAdd(&numbers[sequence_offsets(sequence).z], atomicLoad(&counted)); }
}
