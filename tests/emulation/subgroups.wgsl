// WGSL's subgroup built-ins over workgroup memory, for subgroups of any size and members.
//
// All invocations of a workgroup call each together, which is what the library's kernels do.
//   LANES  invocations of a subgroup; the last one of a workgroup may have fewer
var<private> emulated_place: u32;  // among the workgroup's invocations, in the order of dealing
var<workgroup> emulated_words: array<u32, WORKGROUP>;  // [place]
var<workgroup> emulated_bits: array<atomic<u32>, 4u * ((WORKGROUP + LANES - 1u) / LANES)>;

fn emulated_first() -> u32 { return emulated_place / LANES * LANES; }
fn emulated_end() -> u32 { return min(emulated_first() + LANES, WORKGROUP); }

fn emulated_tell(word: u32) {
  workgroupBarrier();
  emulated_words[emulated_place] = word;
  workgroupBarrier();
}

fn emulated_Shuffle(word: u32, lane: u32) -> u32 {
  emulated_tell(word);
  return emulated_words[min(emulated_first() + lane, emulated_end() - 1u)];
}

fn emulated_ShuffleXor(word: u32, mask: u32) -> u32 { return emulated_Shuffle(word, (emulated_place - emulated_first()) ^ mask); }

fn emulated_BroadcastFirst(word: u32) -> u32 { return emulated_Shuffle(word, 0u); }

fn emulated_Ballot(bit: bool) -> vec4<u32> {
  let own = 4u * (emulated_place / LANES);
  let lane = emulated_place - emulated_first();
  workgroupBarrier();
  if (lane == 0u) {
    for (var i = 0u; i < 4u; i++) { atomicStore(&emulated_bits[own + i], 0u); }
  }
  workgroupBarrier();
  if (bit) { atomicOr(&emulated_bits[own + lane / 32u], 1u << (lane % 32u)); }
  workgroupBarrier();
  return vec4<u32>(atomicLoad(&emulated_bits[own]), atomicLoad(&emulated_bits[own + 1u]), atomicLoad(&emulated_bits[own + 2u]),
                   atomicLoad(&emulated_bits[own + 3u]));
}

fn emulated_ExclusiveAdd(word: u32) -> u32 {
  emulated_tell(word);
  var sum = 0u;
  for (var i = emulated_first(); i < emulated_place; i++) { sum += emulated_words[i]; }
  return sum;
}

fn emulated_Add(word: u32) -> u32 {
  emulated_tell(word);
  var sum = 0u;
  for (var i = emulated_first(); i < emulated_end(); i++) { sum += emulated_words[i]; }
  return sum;
}

fn emulated_Min(word: u32) -> u32 {
  emulated_tell(word);
  var least = 0xffffffffu;
  for (var i = emulated_first(); i < emulated_end(); i++) { least = min(least, emulated_words[i]); }
  return least;
}

fn emulated_Max(word: u32) -> u32 { return ~emulated_Min(~word); }

fn emulated_And(word: u32) -> u32 {
  emulated_tell(word);
  var every = 0xffffffffu;
  for (var i = emulated_first(); i < emulated_end(); i++) { every &= emulated_words[i]; }
  return every;
}

fn emulated_Or(word: u32) -> u32 { return ~emulated_And(~word); }
