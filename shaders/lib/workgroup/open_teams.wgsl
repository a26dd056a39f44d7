// Whether any team of a workgroup goes on: then all of them do, as barriers and shuffles ask for.
var<workgroup> open_teams: array<atomic<u32>, 2>;  // by turns
var<workgroup> shared_open: u32;

var<private> open_turn: u32;

// Comes before a barrier ahead of the first `any_open`.
fn begin_open(local: u32) {
  if (local < 2u) { atomicStore(&open_teams[local], 0u); }
}

// All call it together.
fn any_open(local: u32, mine: bool) -> bool {
  let turn = open_turn;
  open_turn = 1u - turn;
  if (mine) { atomicStore(&open_teams[turn], 1u); }
  workgroupBarrier();
  if (local == 0u) {
    shared_open = atomicLoad(&open_teams[turn]);
    atomicStore(&open_teams[1u - turn], 0u);
  }
  return workgroupUniformLoad(&shared_open) != 0u;
}
