// How many items of each sequence are numbers, not NaN: source -> numbers (zeros before).
//
// Each of params.parts teams reads a part of a sequence.
//   TEAM  invocations of a team
#import io/source
#import workgroup/teams

@group(0) @binding(6) var<storage, read_write> numbers: array<atomic<u32>>;  // as the indices lie

var<workgroup> counted: array<atomic<u32>, TEAMS>;

fn run(workgroup: u32, local: u32) {
  let team = team_number(local);
  let id = workgroup * TEAMS + team;
  let live = id / params.parts < params.sequences;
  let sequence = min(id / params.parts, params.sequences - 1u);
  if (local < TEAMS) { atomicStore(&counted[local], 0u); }
  workgroupBarrier();
  let row = row_of(sequence);
  var count = 0u;
  for (var v = id % params.parts * TEAM + lane_in_team(local); v < row.loads; v += params.parts * TEAM) {
    let data = load(row, v);
#for c in PER_LOAD
    let pair$c = item(row, v, data, $cu);
    count += select(1u, 0u, (pair$c.index == NO_INDEX) | is_nan(pair$c.key));
#endfor
  }
  atomicAdd(&counted[team], count);
  workgroupBarrier();
  if (live && lane_in_team(local) == 0u) { atomicAdd(&numbers[sequence_offsets(sequence).z], atomicLoad(&counted[team])); }
}
