// Exclusive prefix sums over the invocations of a workgroup, in two levels: within runs of 16, then over the runs.

const RUN: u32 = 16u;
const RUNS: u32 = (WORKGROUP + RUN - 1u) / RUN;

var<workgroup> scan_words: array<vec4<u32>, WORKGROUP>;
var<workgroup> scan_runs: array<vec4<u32>, RUNS>;

struct Scan { before: vec4<u32>, total: vec4<u32> }

// All invocations call it together; ends with a barrier, so that it can be called again at once.
fn scan(local: u32, mine: vec4<u32>) -> Scan {
  let first = local / RUN * RUN;
  scan_words[local] = mine;
  workgroupBarrier();
  var before = vec4<u32>(0u);
  for (var i = first; i < local; i++) { before += scan_words[i]; }
  if (local % RUN == RUN - 1u || local == WORKGROUP - 1u) { scan_runs[local / RUN] = before + mine; }
  workgroupBarrier();
  var total = vec4<u32>(0u);
  for (var run = 0u; run < RUNS; run++) {
    if (run == local / RUN) { before += total; }
    total += scan_runs[run];
  }
  workgroupBarrier();
  return Scan(before, total);
}
