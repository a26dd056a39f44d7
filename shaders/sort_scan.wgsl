// Radix sort, step 2 of 3: for each digit of each sequence, the running sum of its counts over the tiles: counts (6), in place, and
// their total (7). A line of counts is an invocation's where it is SHORT, else a workgroup's.
#import scan
#import params

@group(0) @binding(6) var<storage, read_write> counts: array<u32>;  // [sequence][digit][tile]
@group(0) @binding(7) var<storage, read_write> totals: array<u32>;  // [sequence][digit]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
#if SHORT
  let line = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (line < params.sequences * BINS) {
    var sum = 0u;
    for (var tile = 0u; tile < params.split; tile++) {
      let count = counts[line * params.split + tile];
      counts[line * params.split + tile] = sum;
      sum += count;
    }
    totals[line] = sum;
  }
#else
  let line = linear_workgroup(workgroup, grid);
  let live = line < params.sequences * BINS;
  let start = line * params.split;
  var carry = 0u;
  for (var tile = 0u; tile < params.split; tile += WORKGROUP * 4u) {
    let at = tile + local * 4u;
    var mine = vec4<u32>(0u);
    for (var i = 0u; i < 4u; i++) {
      if (live && at + i < params.split) { mine[i] = counts[start + at + i]; }
    }
    let sums = scan(local, vec4<u32>(mine.x + mine.y + mine.z + mine.w, 0u, 0u, 0u));
    var running = carry + sums.before.x;
    for (var i = 0u; i < 4u; i++) {
      if (live && at + i < params.split) { counts[start + at + i] = running; }
      running += mine[i];
    }
    carry += sums.total.x;
  }
  if (live && local == 0u) { totals[line] = carry; }
#endif
}
