// Exclusive prefix sums over each team of a workgroup: of runs of 16 invocations, then of the runs.
//   TEAM  invocations of a team, a multiple of 16; WORKGROUP where the whole workgroup is one

const SCAN_RUNS: u32 = WORKGROUP / 16u;

var<workgroup> scan_words: array<u32, WORKGROUP + SCAN_RUNS>;  // a spare place a run: banks differ
var<workgroup> scan_runs: array<u32, SCAN_RUNS>;

struct Scan { exclusive: u32, total: u32 }

fn sum_runs(local: u32, mine: u32) {
  scan_words[local + local / 16u] = mine;
  workgroupBarrier();
  if (local < SCAN_RUNS) {
    var sum = 0u;
#for i in 16
    sum += scan_words[local * 17u + $iu];
#endfor
    scan_runs[local] = sum;
  }
  workgroupBarrier();
}

// The sum of a team's runs before one, and of all of them.
fn scan_runs_of_team(run: u32) -> Scan {
  let first = run - run % (TEAM / 16u);
  var sums = Scan();
  for (var r = first; r < first + TEAM / 16u; r++) {
    if (r == run) { sums.exclusive = sums.total; }
    sums.total += scan_runs[r];
  }
  return sums;
}

// The sums within a run, in place of its words.
fn scan_run(run: u32, start: u32) {
  var exclusive = start;
#for i in 16
  let word$i = scan_words[run * 17u + $iu];
  scan_words[run * 17u + $iu] = exclusive;
  exclusive += word$i;
#endfor
}

// All invocations call it together. It has three barriers, and may be called again at once.
fn scan(local: u32, mine: u32) -> Scan {
  sum_runs(local, mine);
  if (local < SCAN_RUNS) {
    let sums = scan_runs_of_team(local);
    scan_run(local, sums.exclusive);
    scan_words[local * 17u + 16u] = sums.total;
  }
  workgroupBarrier();
  return Scan(scan_words[local + local / 16u], scan_words[local / 16u * 17u + 16u]);
}

// The same of words of two 16-bit sums each, of which all low ones come before the high ones.
fn scan_halves(local: u32, mine: u32) -> u32 {
  sum_runs(local, mine);
  if (local < SCAN_RUNS) {
    let sums = scan_runs_of_team(local);
    scan_run(local, sums.exclusive + (sums.total << 16u));
  }
  workgroupBarrier();
  return scan_words[local + local / 16u];
}
