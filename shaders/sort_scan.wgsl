// Radix sort, step 2 of 3, where groups of tiles are many: for each digit of each sequence, the running sum of its counts over the groups, in
// place, and behind the last one their total: groups (binding 7).
// A workgroup serves LINES neighbouring lines, the counts of a digit of a sequence; RUNS invocations, one or a multiple of eight, share a line,
// EACH groups of each at a time.
#import groups

#if RUNS > 1
var<workgroup> sums: array<u32, WORKGROUP>;  // [run][line]
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let line = linear_workgroup(workgroup, grid) * LINES + local % LINES;
  let live = line < params.sequences * BINS;
  let sequence = min(line / BINS, params.sequences - 1u);
  let digit = line % BINS;
  let run = local / LINES;
  var carry = 0u;
  for (var start = 0u; start < params.split; start += RUNS * EACH) {
    let begin = start + run * EACH;
#for i in EACH
    let count$i = select(0u, groups[group_at(sequence, min(begin + $iu, params.split - 1u), digit)], begin + $iu < params.split);
#endfor
    var sum = carry;
#if RUNS > 1
    var own = 0u;
#for i in EACH
    own += count$i;
#endfor
    sums[local] = own;
    workgroupBarrier();
    for (var other = 0u; other < RUNS; other += 8u) {
#for r in 8
      let sum$r = sums[(other + $ru) * LINES + local % LINES];
#endfor
#for r in 8
      sum += select(0u, sum$r, other + $ru < run);
      carry += sum$r;
#endfor
    }
    workgroupBarrier();
#endif
#for i in EACH
    if (live && begin + $iu < params.split) { groups[group_at(sequence, begin + $iu, digit)] = sum; }
    sum += count$i;
#endfor
#if RUNS == 1
    carry = sum;
#endif
  }
  if (live && run == 0u) { groups[group_at(sequence, params.split, digit)] = carry; }
}
