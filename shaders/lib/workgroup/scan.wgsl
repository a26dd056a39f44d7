// Prefix sums over each team of a workgroup, in the order of its invocations.
//
// A step adds up four sums, TEAM invocations take log4(TEAM) steps, and each has a barrier (Hillis
// and Steele, "Data parallel algorithms", Communications of the ACM 29(12), 1986, by fours).
//   TEAM  invocations of a team, which divides WORKGROUP; the planner's default is all of it
var<workgroup> scan_words: array<atomic<u32>, 2u * WORKGROUP>;
var<private> scan_page: u32;  // Two, by turns: a step may write while another reads.

// The sum over the team's invocations up to this one. All of a workgroup call it together.
fn inclusive_sum(local: u32, mine: u32) -> u32 {
  let lane = local % TEAM;
  var sum = mine;
  for (var reach = 1u; reach < TEAM; reach *= 4u) {
    atomicStore(&scan_words[scan_page + local], sum);
    workgroupBarrier();
#for j in 3
    if (lane >= $[j + 1]u * reach) { sum += atomicLoad(&scan_words[scan_page + local - $[j + 1]u * reach]); }
#endfor
    scan_page = WORKGROUP - scan_page;
  }
  return sum;
}

struct Scan { exclusive: u32, total: u32 }

// The sum over the invocations before this one, and over all. All call it together.
fn scan(local: u32, mine: u32) -> Scan {
  let sum = inclusive_sum(local, mine);
  atomicStore(&scan_words[scan_page + local], sum);
  workgroupBarrier();
  let total = atomicLoad(&scan_words[scan_page + local - local % TEAM + (TEAM - 1u)]);
  scan_page = WORKGROUP - scan_page;
  return Scan(sum - mine, total);
}

// The same of words of two 16-bit sums each, of which all low ones come before the high ones.
fn scan_halves(local: u32, mine: u32) -> u32 {
  let sums = scan(local, mine);
  return sums.exclusive + (sums.total << 16u);
}
