// The best pair of every part of every sequence, by subgroups or a tree: source (bindings 1 to 3) -> sink (4, 5).
//
// A team of TEAM invocations serves one part; a sequence has params.split parts, and part p takes the loads p * TEAM + lane and
// every split * TEAM-th after (CHUNKS = 1: the p-th of as many runs of loads).
//   LOADS   of an invocation, all held at once (lib/held.wgsl), where they are few and there is one part; else 0
#import best
#import sink
#if TEAM > 1
#import tree
#endif

const TEAMS: u32 = WORKGROUP / TEAM;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let team = linear_workgroup(workgroup, grid) * TEAMS + local / TEAM;
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
#if TEAM > 1
  best = best_of_team(local, place, best);
#endif
  if (live && lane == 0u) { put(sequence, part, settled(row, best)); }
}
