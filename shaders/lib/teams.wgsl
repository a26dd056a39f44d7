// Teams of at most 32 invocations of a subgroup, and ballots among them. Every invocation of a workgroup is in one team.
//
// WGSL promises neither how large a subgroup is nor which invocations share one, and nothing here depends on either: a team is those of
// a subgroup that are active and whose bits lie in one word of a ballot; teams and their places are dealt out as they come. A kernel has
// TEAM_SUMS, the first of 2 WORKGROUP words of its memory `room` that teams keep sums in.
#import pair

struct Team {
  first: u32,      // invocations of the workgroup in earlier teams
  number: u32,     // earlier teams
  members: u32,
  rank: u32,       // members before this one
  place: u32,      // the subgroup's invocations before it
  subgroup: u32,   // the number of the subgroup's first team
  before: u32,     // and their bits
  all: u32,        // all members' bits
  bit: u32,        // the subgroup's invocations whose bits lie in earlier words
}

var<workgroup> team_dealt: atomic<u32>;  // teams in the high half, invocations in the low one
var<workgroup> team_wide: atomic<u32>;   // 1 where a subgroup has invocations beyond the first word
var<workgroup> team_facts: u32;          // twice as many as there are teams, and team_wide

// All ones in the word of a ballot that begins with this bit.
fn mask_of(bit: u32) -> vec4<u32> {
  return select(vec4<u32>(0u), vec4<u32>(0xffffffffu), vec4<u32>(0u, 32u, 64u, 96u) == vec4<u32>(bit));
}

fn word_of_ballot(ballot: vec4<u32>, word: vec4<u32>) -> u32 {
  let own = ballot & word;
  return own.x | own.y | own.z | own.w;
}

// All invocations of the workgroup call it together; team_facts can be read behind another barrier.
fn team_of(local: u32) -> Team {
  if (local == 0u) {
    atomicStore(&team_dealt, 0u);
    atomicStore(&team_wide, 0u);
  }
  workgroupBarrier();
  let present = subgroupBallot(true);
  let number = subgroupExclusiveAdd(1u);  // in the order of the ballot's bits
  let ones = countOneBits(present);
  let used = min(ones, vec4<u32>(1u));
  var dealt = 0u;
  if (number == 0u) {
    if (ones.x < ones.x + ones.y + ones.z + ones.w) { atomicStore(&team_wide, 1u); }
    dealt = atomicAdd(&team_dealt, ((used.x + used.y + used.z + used.w) << 16u) + ones.x + ones.y + ones.z + ones.w);
  }
  dealt = subgroupBroadcastFirst(dealt);
  let starts = vec4<u32>(0u, ones.x, ones.x + ones.y, ones.x + ones.y + ones.z);
  let later = vec4<u32>(number) >= starts + ones;
  let word = select(vec4<u32>(0u), vec4<u32>(0xffffffffu), (vec4<u32>(number) >= starts) & !later);
  let words = select(vec4<u32>(0u), used, later);
  let start = word_of_ballot(starts, word);
  let rank = number - start;
  // The members before this one differ from it first in a bit of their ranks that only this one has.
  var before = 0u;
  let all = word_of_ballot(present, word);
  var same = all;
#for b in 5
  let bit$b = (rank >> $[4 - b]u) & 1u;
  let with$b = word_of_ballot(subgroupBallot(bit$b == 1u), word);
  before |= select(0u, same & ~with$b, bit$b == 1u);
  same &= with$b ^ (bit$b - 1u);
#endfor
  atomicStore(&room[TEAM_SUMS + local], 0u);
  atomicStore(&room[TEAM_SUMS + WORKGROUP + local], 0u);
  workgroupBarrier();
  if (local == 0u) { team_facts = (atomicLoad(&team_dealt) >> 16u) * 2u + atomicLoad(&team_wide); }
  return Team((dealt & 0xffffu) + start, (dealt >> 16u) + words.x + words.y + words.z + words.w, word_of_ballot(ones, word), rank,
              number, dealt >> 16u, before, all, word_of_ballot(vec4<u32>(0u, 32u, 64u, 96u), word));
}

struct TeamScan { before: vec2<u32>, total: vec2<u32> }

// Exclusive sums in the order of (first + rank), of `teams` in all. All invocations of the workgroup call it together, once.
fn team_scan(team: Team, mine: vec2<u32>, teams: u32) -> TeamScan {
  let sums = subgroupAdd(mine);
  let before = subgroupExclusiveAdd(mine);
  if (team.place == 0u) {  // [first team of a subgroup]
    atomicStore(&room[TEAM_SUMS + team.number], sums.x);
    atomicStore(&room[TEAM_SUMS + WORKGROUP + team.number], sums.y);
  }
  workgroupBarrier();
  var scan = TeamScan(before, vec2<u32>());
  for (var t = 0u; t < teams; t++) {
    let other = vec2<u32>(atomicLoad(&room[TEAM_SUMS + t]), atomicLoad(&room[TEAM_SUMS + WORKGROUP + t]));
    if (t < team.subgroup) { scan.before += other; }
    scan.total += other;
  }
  return scan;
}

// The bits of the team's members with the same digit of eight bits. All invocations of a workgroup call it together; `wide`: team_wide.
fn peers_of(digit: u32, team: Team, wide: bool) -> u32 {
  var peers = team.all;
  if (wide) {
    let word = mask_of(team.bit);
#for b in 8
    let one$b = (digit & $[1 << b]u) != 0u;
    peers &= word_of_ballot(subgroupBallot(one$b), word) ^ select(0xffffffffu, 0u, one$b);
#endfor
  } else {
#for b in 8
    let one$b = (digit & $[1 << b]u) != 0u;
    peers &= subgroupBallot(one$b).x ^ select(0xffffffffu, 0u, one$b);
#endfor
  }
  return peers;
}

// The value of the first of the peers. No memory is ordered by it, but what one of them has been answered by an atomic operation
// before it, later such operations of all of them come after. WGSL promises that a bit's place in a ballot is its invocation's number in a shuffle.
fn of_first(value: u32, peers: u32, team: Team) -> u32 { return subgroupShuffle(value, team.bit + countTrailingZeros(peers)); }
