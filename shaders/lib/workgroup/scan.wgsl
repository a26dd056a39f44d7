// Prefix sums over each team of a workgroup, in the order of its invocations.
//
// Subgroups that are aligned runs of a team add up by themselves. Else a step adds up four sums, TEAM invocations take log4(TEAM) steps, and each has a barrier (Hillis
// and Steele, "Data parallel algorithms", Communications of the ACM 29(12), 1986, by fours).
//   TEAM  invocations of a team, which divides WORKGROUP; the planner's default is all of it
var<workgroup> scan_words: array<atomic<u32>, 2u * WORKGROUP>;
var<private> scan_page: u32;  // Steps take two pages by turns: a step may write while another reads.

#if SUBGROUPS

// By subgroups of so many invocations in order.
fn sum_by_subgroups(local: u32, lanes: u32, mine: u32) -> u32 {
  let sum = subgroupInclusiveAdd(mine);
  let lane = local & (lanes - 1u);
  if (lane == lanes - 1u) { atomicStore(&scan_words[scan_page + local / lanes], sum); }
  workgroupBarrier();
  let first = local / TEAM * (TEAM / lanes);
  var earlier = 0u;
  for (var s = 0u; s < TEAM / lanes; s += lanes) {
    let other = first + s + lane;
    earlier += select(0u, atomicLoad(&scan_words[scan_page + min(other, WORKGROUP - 1u)]), other < local / lanes);
  }
  scan_page = WORKGROUP - scan_page;
  return sum + subgroupAdd(earlier);
}

#endif

// The sum over the team's invocations up to this one. All of a workgroup call it together, with
// the same `lanes` (lib/workgroup/lanes.wgsl), or 1.
fn inclusive_sum(local: u32, lanes: u32, mine: u32) -> u32 {
#if SUBGROUPS
  if (lanes > 1u && TEAM % lanes == 0u) { return sum_by_subgroups(local, lanes, mine); }
#endif
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
fn scan(local: u32, lanes: u32, mine: u32) -> Scan {
  let sum = inclusive_sum(local, lanes, mine);
  atomicStore(&scan_words[scan_page + local], sum);
  workgroupBarrier();
  let total = atomicLoad(&scan_words[scan_page + local - local % TEAM + (TEAM - 1u)]);
  scan_page = WORKGROUP - scan_page;
  return Scan(sum - mine, total);
}

// The same of words of two 16-bit sums each, of which all low ones come before the high ones.
fn scan_halves(local: u32, lanes: u32, mine: u32) -> u32 {
  let sums = scan(local, lanes, mine);
  return sums.exclusive + (sums.total << 16u);
}
