// Items that a running top-k may take, unsorted: source, state -> sink (lists), arrivals (zeros).
//
// Those beyond COLLECTED of a workgroup are not listed, but counted as more than a list holds.
#import io/running_threshold
#import io/sink
#import thread/append_passing

@group(0) @binding(8) var<storage, read_write> arrivals: array<atomic<u32>>;  // as the indices lie

var<workgroup> collected: array<Stored, COLLECTED>;
var<workgroup> collected_count: atomic<u32>;
var<workgroup> first_place: u32;

fn reserve(sequence: u32, count: u32) -> u32 { return atomicAdd(&collected_count, count); }

fn enlist(sequence: u32, at: u32, pair: Pair) {
  if (at < COLLECTED) { collected[at] = store_of(pair); }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let live = id / params.parts < params.sequences;
  let sequence = min(id / params.parts, params.sequences - 1u);
  let number = sequence_offsets(sequence).z;
  let bound = bound_of(number * row_words());
  if (local == 0u) { atomicStore(&collected_count, 0u); }
  workgroupBarrier();
  let row = row_of(sequence);
  // No load waits for the bound.
  let end = select(0u, row.loads, live);
  let stride = params.parts * WORKGROUP;
  for (var q = id % params.parts * WORKGROUP + local; q < end; q += 4u * stride) {
#for u in 4
    let v$u = min(q + $uu * stride, row.loads - 1u);
    let data$u = load(row, v$u);
#endfor
#for u in 4
    if (q + $uu * stride < end) { list_passing(sequence, row, v$u, data$u, bound.pair); }
#endfor
  }
  workgroupBarrier();
  let found = select(0u, atomicLoad(&collected_count), bound.any);
  if (local == 0u && found > 0u) {
    first_place = atomicAdd(&arrivals[number], select(found, params.places + 1u, found > COLLECTED));
  }
  workgroupBarrier();
  for (var i = local; i < min(found, COLLECTED); i += WORKGROUP) {
    if (first_place + i < params.places) { put(sequence, first_place + i, pair_of(collected[i])); }
  }
}
