// The bits that some of a team's keys have, and those that all have, by atomics.
//   TEAM  invocations of a team
#import order/key
#import workgroup/teams

struct Bits { some: Key, every: Key }

var<workgroup> bits_of_some: array<atomic<u32>, 2u * TEAMS>;
var<workgroup> bits_of_all: array<atomic<u32>, 2u * TEAMS>;

// Comes before a barrier ahead of `bits_of_team`.
fn begin_bits(local: u32) {
  if (local < 2u * TEAMS) {
    atomicStore(&bits_of_some[local], 0u);
    atomicStore(&bits_of_all[local], 0xffffffffu);
  }
}

// Those of all invocations of a team. All of the workgroup call it once, together.
fn bits_of_team(local: u32, mine: Bits) -> Bits {
  let own = local / TEAM * 2u;
#if KEY_WORDS == 1
  atomicOr(&bits_of_some[own], mine.some);
  atomicAnd(&bits_of_all[own], mine.every);
  workgroupBarrier();
  return Bits(atomicLoad(&bits_of_some[own]), atomicLoad(&bits_of_all[own]));
#else
#for w in 2
  atomicOr(&bits_of_some[own + $wu], mine.some[$w]);
  atomicAnd(&bits_of_all[own + $wu], mine.every[$w]);
#endfor
  workgroupBarrier();
  return Bits(Key(atomicLoad(&bits_of_some[own]), atomicLoad(&bits_of_some[own + 1u])),
              Key(atomicLoad(&bits_of_all[own]), atomicLoad(&bits_of_all[own + 1u])));
#endif
}
