// Every pair that does not come after its sequence's threshold, in any order: input (binding 1), delegates (2, 3), thresholds (4, 5)
// -> lists of candidates (4, 5), counts (6). Reads the subsets again whose delegates do not come after the threshold.
#import source
#import sink
#import subsets

var<workgroup> chosen: array<u32, WORKGROUP>;
var<workgroup> chosen_count: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let blocks = (params.subsets + WORKGROUP - 1u) / WORKGROUP;
  let sequence = min(id / blocks, params.sequences - 1u);
  // Eight neighbours, and the next eight far away: in sorted data the chosen subsets are neighbours.
  let subset = (local / 8u * blocks + id % blocks) * 8u + local % 8u;
  let live = id / blocks < params.sequences && subset < params.subsets;
  let own = delegate_at(sequence, min(subset, params.subsets - 1u));
  let threshold = Pair(sink_keys[threshold_place(sequence)], sink_indices[threshold_place(sequence)]);
  if (local == 0u) { atomicStore(&chosen_count, 0u); }
  workgroupBarrier();
  if (live && !before(threshold, own)) { chosen[atomicAdd(&chosen_count, 1u)] = subset; }
  workgroupBarrier();
  // Powers of two in place of divisions: some invocations have nothing to read.
  let shift = 32u - countLeadingZeros(params.members - 1u);
  let again = atomicLoad(&chosen_count) << shift;
  let row = row_of(sequence);
  for (var w = local; w < again; w += 4u * WORKGROUP) {
#for u in 4
    let w$u = min(w + $uu * WORKGROUP, again - 1u);
    let v$u = chosen[w$u >> shift] + (w$u & ((1u << shift) - 1u)) * params.subsets;
    let there$u = w + $uu * WORKGROUP < again && v$u < row.loads;
    let data$u = load(row, min(v$u, row.loads - 1u));
#endfor
#for u in 4
    if (there$u) {
#for c in PER_LOAD
      {
        let candidate = item(row, v$u, data$u, $cu);
        if (candidate.index != NO_INDEX && !before(threshold, candidate)) {
          let place = atomicAdd(&counts[sequence], 1u);
          if (place < CAPACITY) { put(sequence, place, candidate); }
        }
      }
#endfor
    }
#endfor
  }
}
