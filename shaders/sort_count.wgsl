// Radix sort, step 1 of 3: how often each digit occurs in each group of tiles, and in earlier tiles of the group: source (bindings 1 to 3) ->
// counts (6), groups (7).
// A group is a workgroup's, AT_ONCE tiles at a time; where ALONE, a tile is an invocation's, which needs no barrier, and a group of its own.
#import source
#import radix

#if ALONE

var<workgroup> bins: array<u32, BINS * WORKGROUP>;  // [digit][invocation]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let sequence = id / params.members;
  let tile = id % params.members;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  let start = tile * TILE;
  let count = min(TILE, params.length - start);
  for (var b = local; b < BINS * WORKGROUP; b += WORKGROUP) { bins[b] = 0u; }
  for (var v = first_load(row, start); v < end_load(row, start + count); v++) {
    let data = load(row, v);
#for c in PER_LOAD
    if (v * PER_LOAD + $cu - row.skew - start < count) {
      bins[digit_of(item(row, v, data, $cu)) * WORKGROUP + local] += 1u;
    }
#endfor
  }
  for (var b = 0u; b < BINS; b++) { groups[group_at(sequence, params.tile_base + tile, b)] = bins[b * WORKGROUP + local]; }
}

#else

var<workgroup> bins: array<atomic<u32>, GROUP * BINS>;  // [tile][digit]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let groups_here = (params.members + GROUP - 1u) / GROUP;
  let sequence = min(id / groups_here, params.sequences - 1u);
  let group = id % groups_here;
  let live = id / groups_here < params.sequences;
  let row = row_of(sequence);
  for (var b = local; b < GROUP * BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
  workgroupBarrier();
  for (var tile = 0u; tile < GROUP; tile += AT_ONCE) {
    // All loads are under way before the first is used.
#for t in AT_ONCE
    let start$t = (group * GROUP + tile + $tu) * TILE + local;
#for i in EACH
    let digit$[t]x$i = digit_of(pair_within(row, min(start$t + $iu * WORKGROUP, params.length - 1u)));
#endfor
#endfor
#for t in AT_ONCE
#for i in EACH
    if (start$t + $iu * WORKGROUP < params.length) { atomicAdd(&bins[(tile + $tu) * BINS + digit$[t]x$i], 1u); }
#endfor
#endfor
  }
  workgroupBarrier();
  if (live) {
    for (var b = local; b < BINS; b += WORKGROUP) {
      var sum = 0u;
#for t in GROUP
#if GROUP > 1
      counts[count_at(sequence, group * GROUP + $tu, b)] = sum;
#endif
      sum += atomicLoad(&bins[$tu * BINS + b]);
#endfor
      groups[group_at(sequence, params.tile_base / GROUP + group, b)] = sum;
    }
  }
}

#endif
