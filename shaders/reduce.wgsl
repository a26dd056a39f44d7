// The best pair of every part of every sequence, by subgroups or a tree: source (bindings 1 to 3) -> sink (4, 5).
//
// A team of TEAM invocations serves one part; a sequence has params.split parts, and part p takes the loads p * TEAM + lane and
// every split * TEAM-th after (CHUNKS = 1: the p-th of as many runs of loads).
//   LOADS   of an invocation, all held at once (lib/held.wgsl), where they are few and there is one part; else 0
//   MEETS   1 where parts take rounds of EACH loads an invocation as they come for them, and meet (lib/meet.wgsl), so that the last to
//           arrive puts the best of all; then a team is a workgroup
#import best
#import sink
#if TEAM > 1
#import tree
#endif
#if MEETS
#import meet

const ROUND: u32 = TEAM * EACH;  // loads

var<workgroup> shared_word: u32;
#endif

const TEAMS: u32 = WORKGROUP / TEAM;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
#if MEETS
  let team = linear_workgroup(workgroup, grid);
#else
  let team = linear_workgroup(workgroup, grid) * TEAMS + local / TEAM;
#endif
  let lane = local % TEAM;
  let sequence = team / params.split;
  let part = team % params.split;
  let live = sequence < params.sequences;

  let row = row_of(min(sequence, params.sequences - 1u));
#if TEAM > 1
  let place = place_in_team(local);
#endif
#if LOADS > 0
#import held
  var best = last_pair();
#if IN_ORDER
  // The first load stands where no key comes before the last one.
  if (lane < row.loads) { best.index = lane; }
#endif
#for l in LOADS
#if WHOLE > $l && $[l + 1] > SKEWED
  best = best_of_whole(row, $[l * TEAM]u + lane, data$l, best);
#else
  best = best_of(row, $[l * TEAM]u + lane, data$l, best);
#endif
#endfor
#else
#if MEETS
  if (!live) { return; }
  // Every part begins with a round of loads of its own, and comes for more until there are none, so that all end together.
  var best = last_pair();
  for (var turn = part; turn * ROUND < row.loads; turn = params.split + workgroupUniformLoad(&shared_word)) {
    if (lane == 0u) { shared_word = next_round(sequence); }
    best = scan_further(row, turn * ROUND + lane, min((turn + 1u) * ROUND, row.loads), TEAM, best);
  }
#else
#if CHUNKS
  let chunk = (row.loads + params.split - 1u) / params.split;
  let begin = part * chunk + lane;
  let end = min((part + 1u) * chunk, row.loads);
  let stride = TEAM;
#else
  let begin = part * TEAM + lane;
  let end = row.loads;
  let stride = params.split * TEAM;
#endif

  var best = scan_loads(row, begin, select(0u, end, live), stride);
#endif
#endif
#if TEAM > 1
  best = best_of_team(local, place, best);
#endif
#if MEETS
  if (lane == 0u) { shared_word = u32(arrive(sequence, part, settled(row, best))); }
  if (workgroupUniformLoad(&shared_word) == 0u) { return; }
  best = last_pair();
  for (var other = lane; other < params.split; other += TEAM) {
    let candidate = take(sequence, other);
    if (before(candidate, best)) { best = candidate; }
  }
  best = best_of_team(local, place, best);
  if (lane == 0u) {
    part_ways(sequence, (row.loads + ROUND - 1u) / ROUND);
    put(sequence, 0u, best);
  }
#else
  if (live && lane == 0u) { put(sequence, part, settled(row, best)); }
#endif
}
