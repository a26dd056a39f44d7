// Whether any invocation of a workgroup asks for more: then all of it go on, as barriers and
// shuffles ask for.
#import workgroup/same

var<workgroup> asked_for_more: array<atomic<u32>, 2>;  // by turns

var<private> asking_turn: u32;

// Comes before a barrier ahead of the first `any_of_all`.
fn begin_any(local: u32) {
  if (local < 2u) { atomicStore(&asked_for_more[local], 0u); }
}

// All call it together.
fn any_of_all(local: u32, mine: bool) -> bool {
  let turn = asking_turn;
  asking_turn = 1u - turn;
  if (mine) { atomicStore(&asked_for_more[turn], 1u); }
  workgroupBarrier();
  if (local == 0u) { atomicStore(&asked_for_more[1u - turn], 0u); }
  return same_for_all(local, atomicLoad(&asked_for_more[turn])) != 0u;
}
