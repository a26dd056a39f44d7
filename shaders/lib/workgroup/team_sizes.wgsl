// Teams of 1, 2, 4, ... invocations, as each sequence of a workgroup needs, in turns.
//
// The largest teams come first. So no team lies in two turns, each begins at a multiple of its
// size, and neighbours have about as much to do.
//   CLASSES  sizes of teams, of which the largest is at most WORKGROUP
#import io/params

var<workgroup> class_counts: array<atomic<u32>, CLASSES>;
var<workgroup> shared_counts: Counts;
var<workgroup> ordered: array<u32, WORKGROUP>;  // The numbers that the teams' sequences have here.
var<workgroup> leaders: array<u32, WORKGROUP>;  // The first invocations of a turn's teams.

alias Counts = array<u32, CLASSES>;  // Teams of each size.

// By the team's first invocation.
var<workgroup> least_keys: array<atomic<u32>, WORKGROUP>;
var<workgroup> bound_keys: array<atomic<u32>, WORKGROUP>;

struct Spot {
  team: u32,  // Teams before the one of an invocation.
  size: u32,  // Of the team.
  lane: u32,  // Number of the invocation in it.
}

// Gives each invocation's sequence, if it has one, a team of 2^power. All call it together.
fn count_teams(local: u32, wanted: bool, power: u32) -> Counts {
  if (local < CLASSES) { atomicStore(&class_counts[local], 0u); }
  workgroupBarrier();
  var place = 0u;
  if (wanted) { place = atomicAdd(&class_counts[power], 1u); }
  workgroupBarrier();
  if (local < CLASSES) { shared_counts[local] = atomicLoad(&class_counts[local]); }
  let counts = workgroupUniformLoad(&shared_counts);
#for c in CLASSES
  place += select(0u, counts[$c], power < $cu);
#endfor
  if (wanted) { ordered[place] = local; }
  return counts;
}

fn teams_in(counts: Counts) -> u32 {
  var teams = 0u;
#for c in CLASSES
  teams += counts[$c];
#endfor
  return teams;
}

fn turns_of(counts: Counts) -> u32 {
  var invocations = 0u;
#for c in CLASSES
  invocations += counts[$c] << $cu;
#endfor
  return (invocations + WORKGROUP - 1u) / WORKGROUP;
}

// Where an invocation is, counted over all turns. Behind the last team it is one of its own.
fn spot_of(counts: Counts, number: u32) -> Spot {
  var spot: Spot;
  var begin = 0u;
  var teams = 0u;
#for r in CLASSES
  if (number >= begin) {
    let along = number - begin;
    spot = Spot(teams + (along >> $[CLASSES - 1 - r]u), $[1 << (CLASSES - 1 - r)]u, along & $[(1 << (CLASSES - 1 - r)) - 1]u);
  }
  begin += counts[$[CLASSES - 1 - r]] << $[CLASSES - 1 - r]u;
  teams += counts[$[CLASSES - 1 - r]];
#endfor
  return spot;
}

// The least of the team's first numbers and the largest of its second ones. All call it together.
fn range_of_team(local: u32, lane: u32, mine: vec2<u32>) -> vec2<u32> {
  atomicStore(&least_keys[local], 0xffffffffu);
  atomicStore(&bound_keys[local], 0u);
  workgroupBarrier();
  atomicMin(&least_keys[local - lane], mine.x);
  atomicMax(&bound_keys[local - lane], mine.y);
  workgroupBarrier();
  return vec2<u32>(atomicLoad(&least_keys[local - lane]), atomicLoad(&bound_keys[local - lane]));
}
