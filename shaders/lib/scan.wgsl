// Exclusive prefix sums over the invocations of a workgroup (a multiple of 16), in two levels: within runs of 16, then over the runs.

const RUN: u32 = 16u;
const RUNS: u32 = WORKGROUP / RUN;

var<workgroup> scan_words: array<u32, WORKGROUP>;
var<workgroup> scan_runs: array<u32, RUNS>;

struct Scan { before: u32, total: u32 }

// All invocations call it together; ends with a barrier, so that it can be called again at once.
fn scan(local: u32, mine: u32) -> Scan {
  let first = local / RUN * RUN;
  scan_words[local] = mine;
  workgroupBarrier();
  var before = 0u;
#for i in 16
  before += select(0u, scan_words[first + $iu], first + $iu < local);
#endfor
  if (local % RUN == RUN - 1u) { scan_runs[local / RUN] = before + mine; }
  workgroupBarrier();
  var total = 0u;
  for (var run = 0u; run < RUNS; run++) {
    if (run == local / RUN) { before += total; }
    total += scan_runs[run];
  }
  workgroupBarrier();
  return Scan(before, total);
}
