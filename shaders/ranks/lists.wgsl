// What lists between brackets tell: the wanted ranks within each, and whether all are there.
// ranks, bounds, earlier, listed -> progress (of lists), status
#import io/ranks
#import io/rank_groups

// [sequence][bracket], [list][slot], [list], and [sequence]: 1 for done.
@group(0) @binding(3) var<storage, read_write> earlier: array<u32>;
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> listed: array<u32>;
@group(0) @binding(9) var<storage, read_write> status: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (sequence >= params.sequences) { return; }
  var done = true;
  for (var b = 0u; b < params.chosen; b++) {
    let list = sequence * params.chosen + b;
    let before = earlier[list];
    let count = listed[list];
    done = done && count <= params.places;
    let end = bounds[b + 1u] - 1u;
    for (var slot = 0u; slot < RANKS; slot++) {
      let rank = rank_of(sequence, min(bounds[b] + slot, end));
      done = done && before < rank && rank <= before + count;
      progress[list * RANKS + slot] = vec4<u32>(0u, 0u, 0u, rank - before);
    }
  }
  status[sequence] = select(0u, 1u, done);
}
