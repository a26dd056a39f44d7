// Wanted ranks as slots of each sequence, and zeros in place of counts: ranks -> progress, words.
#import io/ranks

// [level][sequence][slot]
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (at < params.places) { words[at] = 0u; }
  if (at < params.sequences * RANKS) { progress[at] = vec4<u32>(0u, 0u, 0u, rank_of(at / RANKS, at % RANKS)); }
}
