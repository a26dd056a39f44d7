// Stable passes of a radix sort, by each team for itself: words to the ranks that a digit gives.
// Merrill and Grimshaw, "High performance and scalable radix sorting", 2011; as CUB's block sorts.
//
// An invocation has consecutive words in registers (a blocked arrangement). It counts their digits
// in its own column of 2^DIGIT / 2 counters, two digits of 16 bits a word (d and d + COUNTERS).
// An exclusive sum in the order digit, invocation, item tells each item's rank.
//   TEAM              invocations of a team, a multiple of 32
//   ITEMS_PER_THREAD  words of an invocation, a divisor of 32
//   COUNTERS          half as many as a digit has values
#import workgroup/scan

const COLUMN_ROOM: u32 = max(ITEMS_PER_THREAD + 1u, COUNTERS);  // words of memory an invocation

alias Words = array<u32, ITEMS_PER_THREAD>;

var<workgroup> room: array<u32, WORKGROUP * COLUMN_ROOM>;  // counters, then words on their way

// The first of the team's words in memory.
fn home_of(local: u32) -> u32 { return local / TEAM * (TEAM * COLUMN_ROOM); }

// Where positions lie: one place to spare after ITEMS_PER_THREAD keeps the banks apart.
fn place(position: u32) -> u32 { return position + position / ITEMS_PER_THREAD; }

// The places of an invocation's items: the first, and the step from one to the next.
struct Arrangement { first: u32, step: u32 }

// Consecutive items.
fn blocked(local: u32) -> Arrangement {
  return Arrangement(home_of(local) + local % TEAM * (ITEMS_PER_THREAD + 1u), 1u);
}

// Items that are TEAM apart, so that neighbours have neighbouring ones.
fn striped(local: u32) -> Arrangement {
  return Arrangement(home_of(local) + place(local % TEAM), TEAM + TEAM / ITEMS_PER_THREAD);
}

fn read_words(at: Arrangement) -> Words {
  var words: Words;
#for i in ITEMS_PER_THREAD
  words[$i] = room[at.first + $iu * at.step];
#endfor
  return words;
}

fn write_words(words: ptr<function, Words>, at: Arrangement) {
#for i in ITEMS_PER_THREAD
  room[at.first + $iu * at.step] = (*words)[$i];
#endfor
}

// Of an arrangement's words, those at the positions wanted. All call it together.
fn exchanged(words: ptr<function, Words>, arrangement: Arrangement, positions: ptr<function, Words>, local: u32) -> Words {
  let home = home_of(local);
  var found: Words;
  workgroupBarrier();
  write_words(words, arrangement);
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  found[$i] = room[home + place((*positions)[$i])];
#endfor
  return found;
}

// One pass, by the digit at bit `shift`: blocked words -> words in order. All call it together.
fn radix_pass(words: ptr<function, Words>, shift: u32, arrangement: Arrangement, local: u32) {
  let home = home_of(local);
  let t = local % TEAM;
  // The invocation's column, and the counters that it adds up: turned in each 32 so that the banks
  // differ both among columns and among invocations that add up.
  let column = home + (t & ~31u) + ((t + t / 32u) & 31u);
  let lane = t * COUNTERS % TEAM;
  let stretch = home + t * COUNTERS - lane % 32u;
  let turn = lane + lane / 32u;
  workgroupBarrier();
#for d in COUNTERS
  room[column + $du * TEAM] = 0u;
#endfor
#for i in ITEMS_PER_THREAD
  let digit$i = (*words)[$i] >> shift;
  let counter$i = column + (digit$i % COUNTERS) * TEAM;
  let half$i = (digit$i / COUNTERS % 2u) * 16u;
  let count$i = room[counter$i];
  room[counter$i] = count$i + (1u << half$i);
#endfor
  workgroupBarrier();
  var total = 0u;
#for d in COUNTERS
  let stretch$d = stretch + ((turn + $du) & 31u);
  let sum$d = room[stretch$d];
  total += sum$d;
#endfor
  var exclusive = scan_halves(local, total);
#for d in COUNTERS
  room[stretch$d] = exclusive;
  exclusive += sum$d;
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  let rank$i = ((room[counter$i] + count$i) >> half$i) & 0xffffu;
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  room[home + place(rank$i)] = (*words)[$i];
#endfor
  workgroupBarrier();
  *words = read_words(arrangement);
}
