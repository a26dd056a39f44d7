// Radix sort, step 2 of 3, for many groups of tiles: sums each digit's counts over the groups.
// The running sums take their place, and the totals lie behind the last: groups.
//
// A line is the counts of a digit of a sequence. A workgroup serves eight neighbouring lines, one
// read of memory. An eighth of its invocations share a line, eight groups of each at a time.
#import io/groups

const RUNS: u32 = WORKGROUP / 8u;

var<workgroup> sums: array<u32, WORKGROUP>;  // [run][line]

fn run(workgroup: u32, local: u32) {
  let line = workgroup * 8u + local % 8u;
  let sequence = line / BINS;
  if (workgroup * 8u / BINS >= params.sequences) { return; }
  let digit = line % BINS;
  let run = local / 8u;
  var carry = 0u;
  for (var start = 0u; start < params.groups; start += RUNS * 8u) {
    let begin = start + run * 8u;
    var own = 0u;
#for i in 8
    let count$i = select(0u, groups[group_at(sequence, min(begin + $iu, params.groups - 1u), digit)], begin + $iu < params.groups);
#endfor
#for i in 8
    own += count$i;
#endfor
    sums[local] = own;
    workgroupBarrier();
    var sum = carry;
    for (var other = 0u; other < RUNS; other += 8u) {
#for r in 8
      let sum$r = sums[(other + $ru) * 8u + local % 8u];
#endfor
#for r in 8
      sum += select(0u, sum$r, other + $ru < run);
      carry += sum$r;
#endfor
    }
    workgroupBarrier();
#for i in 8
    if (begin + $iu < params.groups) { groups[group_at(sequence, begin + $iu, digit)] = sum; }
    sum += count$i;
#endfor
  }
  if (run == 0u) { groups[group_at(sequence, params.groups, digit)] = carry; }
}
