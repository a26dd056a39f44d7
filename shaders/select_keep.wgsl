// Radix select, the end: keeps the k pairs that do not come after the threshold, in any order: source (1 to 3), histogram (6),
// progress (7) -> pairs (4, 5), counters (8). The order in which they land does not matter: they are sorted next.
#import source
#import sink
#import digits

@group(0) @binding(8) var<storage, read_write> kept: array<atomic<u32>>;  // [sequence]

var<workgroup> step_count: atomic<u32>;
var<workgroup> step_base: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id / params.split, params.sequences - 1u);
  let part = id % params.split;
  let live = id / params.split < params.sequences;
  let threshold = threshold_of(resolve(local, sequence, false));
  let row = row_of(sequence);
  let stride = params.split * WORKGROUP;
#if FEW_KEPT
  // Few pass: each asks for its place by itself, and nobody waits.
  for (var q = part * WORKGROUP + local; q < select(0u, row.loads, live); q += 4u * stride) {
#for u in 4
    let q$u = q + $uu * stride;
    let v$u = load_of(row, min(q$u, row.loads - 1u));
    let data$u = load(row, v$u);
#endfor
#for u in 4
    if (q$u < row.loads) {
#for c in PER_LOAD
      {
        let candidate = item(row, v$u, data$u, $cu);
        if (candidate.index != NO_INDEX && !before(threshold, candidate)) {
          let place = atomicAdd(&kept[sequence], 1u);
          if (place < params.k) { put(sequence, place, candidate); }
        }
      }
#endfor
    }
#endfor
  }
#else
  // Many pass: a workgroup asks for the places of four loads an invocation at once.
  let steps = (row.loads + 4u * stride - 1u) / (4u * stride);
  for (var step = 0u; step < steps; step++) {
    var found = 0u;
#for u in 4
    let q$u = (step * 4u + $uu) * stride + part * WORKGROUP + local;
    let v$u = load_of(row, min(q$u, row.loads - 1u));
    let data$u = load(row, v$u);
#endfor
#for u in 4
    var keep$u = 0u;
    if (live && q$u < row.loads) {
#for c in PER_LOAD
      {
        let candidate = item(row, v$u, data$u, $cu);
        if (candidate.index != NO_INDEX && !before(threshold, candidate)) { keep$u |= 1u << $cu; }
      }
#endfor
    }
    found += countOneBits(keep$u);
#endfor
    if (local == 0u) { atomicStore(&step_count, 0u); }
    workgroupBarrier();
    var place = 0u;
#if SUBGROUPS
    // The last of the subgroup that found any asks for all of it: the others' places come before its own.
    let before_mine = subgroupExclusiveAdd(found);
    let subgroup_found = subgroupAdd(found);
    if (found != 0u && before_mine + found == subgroup_found) { place = atomicAdd(&step_count, subgroup_found); }
    place = subgroupMax(place) + before_mine;
#else
    if (found != 0u) { place = atomicAdd(&step_count, found); }
#endif
    workgroupBarrier();
    if (local == 0u) { step_base = atomicAdd(&kept[sequence], atomicLoad(&step_count)); }
    workgroupBarrier();
    place += step_base;
#for u in 4
#for c in PER_LOAD
    if ((keep$u & (1u << $cu)) != 0u) {
      if (place < params.k) { put(sequence, place, item(row, v$u, data$u, $cu)); }
      place++;
    }
#endfor
#endfor
  }
#endif
}
