// Every pair that does not come after its sequence's threshold, in any order: input (binding 1), delegates (2, 3), thresholds (6)
// -> list of candidates (4, 5), counts (6). Reads the subsets again whose delegates do not come after the threshold.
#import source
#import sink
#import subsets

var<workgroup> chosen: array<u32, WORKGROUP>;
var<workgroup> chosen_count: atomic<u32>;
var<workgroup> shared_threshold: Stored;

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
  // Atomic loads go past the caches: one for all.
  if (local == 0u) {
    atomicStore(&chosen_count, 0u);
    shared_threshold = store_of(threshold_of(sequence));
  }
  workgroupBarrier();
  let threshold = pair_of(shared_threshold);
  if (live && !before(threshold, own)) { chosen[atomicAdd(&chosen_count, 1u)] = subset; }
  workgroupBarrier();
  let again = atomicLoad(&chosen_count) * params.members;
  let row = row_of(sequence);
  for (var w = local; w < again; w += 4u * WORKGROUP) {
#for u in 4
    let w$u = min(w + $uu * WORKGROUP, again - 1u);
    let v$u = chosen[w$u / params.members] + w$u % params.members * params.subsets;
    let there$u = w + $uu * WORKGROUP < again && v$u < row.loads;
    let data$u = load(row, min(v$u, row.loads - 1u));
#endfor
#for u in 4
    if (there$u) {
#for c in PER_LOAD
      {
        let candidate = item(row, v$u, data$u, $cu);
        if (candidate.index != NO_INDEX && !before(threshold, candidate)) {
          let place = atomicAdd(&states[sequence * STATE_WORDS], 1u);
          if (place < CAPACITY) { put(sequence, place, candidate); }
        }
      }
#endfor
    }
#endfor
  }
}
