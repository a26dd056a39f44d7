// Warps of up to 32 invocations, and ballots among them. Every invocation is a lane of one warp.
//
// A warp is what is active of a subgroup within one word of a ballot. Nothing depends on the size
// or the members of a subgroup, of which WGSL promises neither. Warps take places as they come.
//   WARP_SUMS  where 2 WORKGROUP words for sums begin in the kernel's memory `room`

struct Warp {
  number: u32,    // earlier warps
  first: u32,     // lanes of earlier warps
  lanes: u32,
  lane: u32,      // lanes before this one
  bits: u32,      // the bits of all lanes
  earlier: u32,   // the bits of the lanes before this one
  bit: u32,       // the subgroup's invocations whose bits lie in earlier words
  subgroup: u32,  // the number of the subgroup's first warp
  place: u32,     // the subgroup's invocations before this one
}

var<workgroup> warps_dealt: atomic<u32>;  // warps in the high half, lanes in the low one
var<workgroup> any_wide: atomic<u32>;     // 1 where a subgroup goes beyond a ballot's first word
var<workgroup> warp_facts: u32;           // twice as many as there are warps, and any_wide

// All ones in the word of a ballot that begins with this bit.
fn ballot_mask(bit: u32) -> vec4<u32> {
  return select(vec4<u32>(0u), vec4<u32>(0xffffffffu), vec4<u32>(0u, 32u, 64u, 96u) == vec4<u32>(bit));
}

fn word_of_ballot(ballot: vec4<u32>, mask: vec4<u32>) -> u32 {
  let own = ballot & mask;
  return own.x | own.y | own.z | own.w;
}

// The bits of the lanes before this one. Each differs from it first in a bit that this one has.
fn earlier_lanes(lane: u32, bits: u32, mask: vec4<u32>) -> u32 {
  var earlier = 0u;
  var same = bits;
#for b in 5
  let bit$b = (lane >> $[4 - b]u) & 1u;
  let with$b = word_of_ballot(subgroupBallot(bit$b == 1u), mask);
  earlier |= select(0u, same & ~with$b, bit$b == 1u);
  same &= with$b ^ (bit$b - 1u);
#endfor
  return earlier;
}

// All invocations of the workgroup call it together. warp_facts can be read behind another barrier.
fn warp_of(local: u32) -> Warp {
  if (local == 0u) {
    atomicStore(&warps_dealt, 0u);
    atomicStore(&any_wide, 0u);
  }
  workgroupBarrier();
  let present = subgroupBallot(true);
  let place = subgroupExclusiveAdd(1u);  // in the order of the ballot's bits
  let ones = countOneBits(present);
  let used = min(ones, vec4<u32>(1u));
  var dealt = 0u;
  if (place == 0u) {
    if (ones.x < ones.x + ones.y + ones.z + ones.w) { atomicStore(&any_wide, 1u); }
    dealt = atomicAdd(&warps_dealt, ((used.x + used.y + used.z + used.w) << 16u) + ones.x + ones.y + ones.z + ones.w);
  }
  dealt = subgroupBroadcastFirst(dealt);
  let firsts = vec4<u32>(0u, ones.x, ones.x + ones.y, ones.x + ones.y + ones.z);
  let later = vec4<u32>(place) >= firsts + ones;
  let mask = select(vec4<u32>(0u), vec4<u32>(0xffffffffu), (vec4<u32>(place) >= firsts) & !later);
  let warps = select(vec4<u32>(0u), used, later);
  let start = word_of_ballot(firsts, mask);
  let bits = word_of_ballot(present, mask);
  let earlier = earlier_lanes(place - start, bits, mask);
  atomicStore(&room[WARP_SUMS + local], 0u);
  atomicStore(&room[WARP_SUMS + WORKGROUP + local], 0u);
  workgroupBarrier();
  if (local == 0u) { warp_facts = (atomicLoad(&warps_dealt) >> 16u) * 2u + atomicLoad(&any_wide); }
  return Warp((dealt >> 16u) + warps.x + warps.y + warps.z + warps.w, (dealt & 0xffffu) + start, word_of_ballot(ones, mask),
              place - start, bits, earlier, word_of_ballot(vec4<u32>(0u, 32u, 64u, 96u), mask), dealt >> 16u, place);
}

struct WarpScan { exclusive: vec2<u32>, total: vec2<u32> }

// Exclusive sums over `warps` in the order of (first + lane). All invocations call it once.
fn warp_scan(warp: Warp, mine: vec2<u32>, warps: u32) -> WarpScan {
  let sums = subgroupAdd(mine);
  let exclusive = subgroupExclusiveAdd(mine);
  if (warp.place == 0u) {  // [first warp of a subgroup]
    atomicStore(&room[WARP_SUMS + warp.number], sums.x);
    atomicStore(&room[WARP_SUMS + WORKGROUP + warp.number], sums.y);
  }
  workgroupBarrier();
  var scan = WarpScan(exclusive, vec2<u32>(0u, 0u));
  for (var w = 0u; w < warps; w++) {
    let other = vec2<u32>(atomicLoad(&room[WARP_SUMS + w]), atomicLoad(&room[WARP_SUMS + WORKGROUP + w]));
    if (w < warp.subgroup) { scan.exclusive += other; }
    scan.total += other;
  }
  return scan;
}

// Multi-split: the lanes of the warp with the same digit of eight bits, as bits.
// All invocations of a workgroup call it together. `wide` is any_wide.
fn match_any(digit: u32, warp: Warp, wide: bool) -> u32 {
  var peers = warp.bits;
  if (wide) {
    let mask = ballot_mask(warp.bit);
#for b in 8
    let one$b = (digit & $[1 << b]u) != 0u;
    peers &= word_of_ballot(subgroupBallot(one$b), mask) ^ select(0xffffffffu, 0u, one$b);
#endfor
  } else {
#for b in 8
    let one$b = (digit & $[1 << b]u) != 0u;
    peers &= subgroupBallot(one$b).x ^ select(0xffffffffu, 0u, one$b);
#endfor
  }
  return peers;
}

// The value of the peers' leader, their first lane. It orders no memory. But atomics of peers after
// it come after the leader's before it. WGSL numbers the bits of a ballot as it does shuffles.
fn from_leader(value: u32, peers: u32, warp: Warp) -> u32 { return subgroupShuffle(value, warp.bit + countTrailingZeros(peers)); }
