// Wanted ranks as slots of each sequence: ranks -> progress.
#import io/ranks

// [level][sequence][slot]
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (at >= params.sequences * RANKS) { return; }
  let slot = at % RANKS;
  let rank = rank_of(at / RANKS, slot);
  // Without a rank, an odd slot has the last pair of all, an even one the first.
  let last = rank == 0u && (slot % 2u == 1u || slot >= params.ranks);
  progress[at] = vec4<u32>(select(vec3<u32>(), vec3<u32>(0xffffffffu), last), rank);
}
