// What lists between brackets tell: the wanted ranks within each, and whether all are there.
// ranks, bounds, brackets, earlier, listed -> progress (of lists), status
//
// A workgroup serves a sequence, an invocation a list.
#import io/brackets
#import io/places
#import io/ranks
#import io/rank_groups

// [sequence][bracket], [list][slot], [list], and [sequence]: 1 for done.
@group(0) @binding(3) var<storage, read_write> earlier: array<u32>;
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> listed: array<u32>;
@group(0) @binding(9) var<storage, read_write> status: array<u32>;

var<workgroup> missed: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  if (local == 0u) { atomicStore(&missed, 0u); }
  workgroupBarrier();
  if (local < params.chosen) {
    let list = sequence * params.chosen + local;
    let before = earlier[list];
    let count = listed[list];
    let prefix = common_of(low_of(list), low_of(list) ^ high_of(list));
    for (var slot = 0u; slot < RANKS; slot++) {
      let rank = rank_of(sequence, min(bounds[local] + slot, bounds[local + 1u] - 1u));
      if (count > params.places || rank <= before || rank > before + count) { atomicStore(&missed, 1u); }
      progress[list * RANKS + slot] = vec4<u32>(prefix, rank - before);
    }
  }
  workgroupBarrier();
  if (local == 0u) { status[sequence] = 1u - atomicLoad(&missed); }
}
