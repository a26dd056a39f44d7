// The first k items of every row, in order, by a radix sort in workgroup memory: source (binding 1) -> sink (4, 5).
// Merrill and Grimshaw, "High performance and scalable radix sorting", 2011; Onesweep's and CUB's block sorts are of this kind.
//
// A team of TEAM invocations (a multiple of 32) sorts one row of at most CAPACITY = TEAM * EACH items, EACH consecutive ones an
// invocation, so that a stable sort by key alone settles ties by index. What is sorted are words of PART bits of the key above
// INDEX_BITS bits of the position: a pass moves one word an item, and the keys stay in the registers of the invocations that read
// them until the next part of their bits, or the output, is fetched by position. There are PARTS parts, least significant first.
//
// A pass ranks by DIGIT bits. Each invocation counts its items' digits in its own column of PAIRS = 2^DIGIT / 2 words, two digits of
// 16 bits a word (d and d + PAIRS). An exclusive sum over the counters in the order digit, invocation, item tells each item's rank.
#import source
#import sink

const CAPACITY: u32 = TEAM * EACH;
const TEAMS: u32 = WORKGROUP / TEAM;
const KEY_BITS: u32 = 8u * ELEMENT_BYTES;
const ROOM: u32 = max(EACH + 1u, PAIRS) * TEAM;
const RUN: u32 = 16u;  // sums of invocations that one invocation adds up
const RUNS: u32 = WORKGROUP / RUN;

var<workgroup> room: array<u32, TEAMS * ROOM>;  // counters, words on their way to their ranks and keys, one after another
var<workgroup> sums: array<u32, WORKGROUP + RUNS>;
var<workgroup> runs: array<u32, RUNS>;

// One spare place after EACH keeps the banks apart.
fn place(position: u32) -> u32 { return position + position / EACH; }

fn key_word(key: Key, w: u32) -> u32 {
#if KEY_WORDS == 1
  return key;
#else
  return select(key.x, key.y, w == 1u);
#endif
}

fn with_word(key: Key, w: u32, word: u32) -> Key {
#if KEY_WORDS == 1
  return word;
#else
  return Key(select(key.x, word, w == 0u), select(key.y, word, w == 1u));
#endif
}

// A key's bits from `part * PART` up, counted from its lowest used bit.
fn part_of(key: Key, part: u32) -> u32 {
  let low = 32u * KEY_WORDS - KEY_BITS + part * PART;
  let mask = 0xffffffffu >> (32u - PART);
#if KEY_WORDS == 1
  return (key >> low) & mask;
#else
  let shift = low & 31u;
  if (low >= 32u) { return (key.x >> shift) & mask; }
  return ((key.y >> shift) | ((key.x << 1u) << (31u - shift))) & mask;
#endif
}

fn index_of(position: u32) -> u32 {
#if SOURCE_ROWS
  return (position + params.first_index) ^ INDEX_FLIP;
#else
  return (axis_step(position).y + params.first_index) ^ INDEX_FLIP;
#endif
}

// Sums of all invocations -> exclusive sums within each team. The counts of a team's low digits all come before its high ones.
fn scan_sums(local: u32) {
  let first = local * (RUN + 1u);
  if (local < RUNS) {
    var total = 0u;
#for j in 16
    total += sums[first + $ju];
#endfor
    runs[local] = total;
  }
  workgroupBarrier();
  if (local < RUNS) {
    let team = local - local % (TEAM / RUN);
    var before = 0u;
    var total = 0u;
    for (var r = team; r < team + TEAM / RUN; r++) {
      if (r == local) { before = total; }
      total += runs[r];
    }
    before += total << 16u;
#for j in 16
    let sum$j = sums[first + $ju];
    sums[first + $ju] = before;
    before += sum$j;
#endfor
  }
  workgroupBarrier();
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let t = local % TEAM;
  let home = local / TEAM * ROOM;
  let sequence = linear_workgroup(workgroup, grid) * TEAMS + local / TEAM;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  let mine = home + t * (EACH + 1u);  // the first of this invocation's items in memory
  let sum = local + local / RUN;

  // Neighbours read neighbouring loads; memory turns them into EACH consecutive items an invocation. One load more than
  // CAPACITY / PER_LOAD may be needed where the row starts amid one.
#for i in LOADS
  let load$i = load(row, min($iu * TEAM + t, row.loads - 1u));
#endfor
#for i in EACH
  var key$i = LAST_KEY;
#endfor
#for w in KEY_WORDS
  workgroupBarrier();
#for i in LOADS
#for c in PER_LOAD
  {
    let v = $iu * TEAM + t;
    let position = v * PER_LOAD + $cu - row.skew;
    if (position < params.length) { room[home + place(position)] = key_word(item(row, v, load$i, $cu).key, $wu); }
  }
#endfor
#endfor
  if (t == 0u && LOADS * TEAM < row.loads) {
    let v = LOADS * TEAM;
    let data = load(row, v);
#for c in PER_LOAD
    if (v * PER_LOAD + $cu - row.skew < params.length) {
      room[home + place(v * PER_LOAD + $cu - row.skew)] = key_word(item(row, v, data, $cu).key, $wu);
    }
#endfor
  }
  workgroupBarrier();
#for i in EACH
  if (t * EACH + $iu < params.length) { key$i = with_word(key$i, $wu, room[mine + $iu]); }
#endfor
#endfor

#for i in EACH
  var x$i = (part_of(key$i, 0u) << INDEX_BITS) | (t * EACH + $iu);
#endfor

  // This invocation's column of counters, and the PAIRS counters that it adds up: turned in each 32 so that the banks differ
  // both among columns and among invocations that add up.
  let column = home + (t & ~31u) + ((t + t / 32u) & 31u);
  let lane = t * PAIRS % TEAM;
  let stretch = home + t * PAIRS - lane % 32u;
  let turn = lane + lane / 32u;

  for (var part = 0u; part < PARTS; part++) {
    if (part > 0u) {
      workgroupBarrier();
#for i in EACH
      room[mine + $iu] = part_of(key$i, part);
#endfor
      workgroupBarrier();
#for i in EACH
      x$i &= (1u << INDEX_BITS) - 1u;
      x$i |= room[home + place(x$i)] << INDEX_BITS;
#endfor
    }
    let end = INDEX_BITS + min(PART, KEY_BITS - part * PART);
    for (var shift = INDEX_BITS; shift < end; shift += DIGIT) {
      workgroupBarrier();
#for d in PAIRS
      room[column + $[d]u * TEAM] = 0u;
#endfor
#for i in EACH
      let counter$i = column + ((x$i >> shift) % PAIRS) * TEAM;
      let half$i = ((x$i >> shift) / PAIRS % 2u) * 16u;
      let count$i = room[counter$i];
      room[counter$i] = count$i + (1u << half$i);
#endfor
      workgroupBarrier();
      var total = 0u;
#for d in PAIRS
      let stretch$d = stretch + ((turn + $du) & 31u);
      let sum$d = room[stretch$d];
      total += sum$d;
#endfor
      sums[sum] = total;
      workgroupBarrier();
      scan_sums(local);
      var before = sums[sum];
#for d in PAIRS
      room[stretch$d] = before;
      before += sum$d;
#endfor
      workgroupBarrier();
#for i in EACH
      let rank$i = ((room[counter$i] + count$i) >> half$i) & 0xffffu;
#endfor
      workgroupBarrier();
#for i in EACH
      room[home + place(rank$i)] = x$i;
#endfor
      workgroupBarrier();
      // In the end consecutive invocations take consecutive ranks.
      let last = part == PARTS - 1u && shift + DIGIT >= end;
      let taken = select(mine, home + t + t / EACH, last);
      let step = select(1u, TEAM + TEAM / EACH, last);
#for i in EACH
      x$i = room[taken + $iu * step];
#endfor
    }
  }

#if FETCH
#for i in EACH
  let position$i = x$i & ((1u << INDEX_BITS) - 1u);
  var out$i = LAST_KEY;
#endfor
#for w in KEY_WORDS
  workgroupBarrier();
#for i in EACH
  room[mine + $iu] = key_word(key$i, $wu);
#endfor
  workgroupBarrier();
#for i in EACH
  out$i = with_word(out$i, $wu, room[home + place(position$i)]);
#endfor
#endfor
#else
#for i in EACH
  let position$i = x$i & ((1u << INDEX_BITS) - 1u);
#if PARTS == 1
  let out$i = (x$i >> INDEX_BITS) << (32u - KEY_BITS);
#else
  let out$i = LAST_KEY;  // indices alone are wanted
#endif
#endfor
#endif
  let to = target_of(sequence);
#for i in EACH
  if (live && $iu * TEAM + t < params.k) { put_to(to, $iu * TEAM + t, Pair(out$i, index_of(position$i))); }
#endfor
}
