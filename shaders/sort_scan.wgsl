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
  let id = linear_workgroup(workgroup, grid);
  let live = id < params.sequences * BINS;
  let line = min(id, params.sequences * BINS - 1u);
  let start = line * params.split;
  var carry = 0u;
  for (var tile = 0u; tile < params.split; tile += WORKGROUP * 4u) {
    let at = tile + local * 4u;
#for i in 4
    let count$i = select(0u, counts[start + min(at + $iu, params.split - 1u)], at + $iu < params.split);
#endfor
    let sums = scan(local, count0 + count1 + count2 + count3);
    var running = carry + sums.before;
#for i in 4
    if (live && at + $iu < params.split) { counts[start + at + $iu] = running; }
    running += count$i;
#endfor
    carry += sums.total;
  }
  if (live && local == 0u) { totals[line] = carry; }
#endif
}
