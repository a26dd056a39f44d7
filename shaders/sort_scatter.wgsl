// Radix sort, step 3 of 3: every pair to its place by this digit, stably: source (bindings 1 to 3), counts (6), groups (7) -> sink (4, 5).
#import radix
#import sink

#if ALONE

// A tile is an invocation's: its pairs go out one by one. No barriers.

var<workgroup> next: array<u32, BINS * WORKGROUP>;  // [digit][invocation]: the rank of the next pair

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let sequence = id / params.members;
  let tile = id % params.members;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  let start = tile * TILE;
  let count = min(TILE, params.length - start);
  var before = 0u;
  for (var b = 0u; b < BINS; b++) {
    let own = occurs(sequence, tile, b);
    next[b * WORKGROUP + local] = before + own.earlier - params.rank_base;
    before += own.total;
  }
  let to = target_of(sequence);
  for (var v = first_load(row, start); v < end_load(row, start + count); v++) {
    let data = load(row, v);
#for c in PER_LOAD
    if (v * PER_LOAD + $cu - row.skew - start < count) {
      let pair = item(row, v, data, $cu);
      let digit = digit_of(pair) * WORKGROUP + local;
      let rank = next[digit];
      next[digit] = rank + 1u;
      if (rank < params.rank_count) { put_to(to, rank, pair); }
    }
#endfor
  }
}

#else
#if SUBGROUPS

// A tile is a workgroup's, and is first sorted by the digit in workgroup memory, so that neighbours are written together. An item's
// rank among those of its team with the same digit comes of ballots, as in Onesweep (Adinets and Merrill, "Onesweep: A faster least
// significant digit radix sort for GPUs", 2022); what other teams have before it, of a counter for each team and digit.
#import teams

const HALF_BINS: u32 = BINS / 2u;  // counters of 16 bits, digits d and d + HALF_BINS in a word
const ROWS: u32 = 16u;             // teams that are counted at a time, as below: all, but for small subgroups
const TEAM_SUMS: u32 = ROWS * HALF_BINS;
const ROOM: u32 = max(EACH * WORKGROUP, TEAM_SUMS + 2u * WORKGROUP);

fn with_word(pair: Pair, w: u32, word: u32) -> Pair {
  if (w == KEY_WORDS) { return Pair(pair.key, word); }
#if KEY_WORDS == 1
  return Pair(word, pair.index);
#else
  return Pair(select(vec2<u32>(pair.key.x, word), vec2<u32>(word, pair.key.y), w == 0u), pair.index);
#endif
}

var<workgroup> room: array<atomic<u32>, ROOM>;      // counters, [team][digit], and sums; then what changes places
var<workgroup> tile_starts: array<u32, HALF_BINS>;  // the rank in the tile of each digit's first item, as the counters are
var<workgroup> starts: array<u32, BINS>;            // the rank of the digit's first pair, less that pair's place in the sorted tile

fn tile_start(digit: u32) -> u32 { return (tile_starts[digit % HALF_BINS] >> (digit / HALF_BINS * 16u)) & 0xffffu; }

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id / params.members, params.sequences - 1u);
  let tile = id % params.members;
  let row = row_of(sequence);
  let first = tile * TILE;
  // Past its end a tile is filled with copies that sort last.
  let count = select(0u, min(TILE, params.length - first), id / params.members < params.sequences);
  let team = team_of(local);

  // All loads are under way before the first is used. Neighbours read neighbouring items, teams runs of them.
#for i in EACH
  let at$i = team.first * EACH + $iu * team.members + team.rank;
  let pair$i = pair_within(row, min(first + at$i, params.length - 1u));
#endfor

  // How often each digit comes in the sequence, and in its earlier tiles.
  let place = team.first + team.rank;  // the digits' invocations, in the order that sums are taken in
  var own = Occurs();
  if (place < BINS) { own = occurs(sequence, tile, place); }

#for i in EACH
  // The digit above, and below it the rank as it becomes known: few registers let many workgroups share a processor.
  var x$i = select(BINS - 1u, digit_of(pair$i), at$i < count) << 16u;
#endfor
  var counted = 0u;  // of digits `place` and HALF_BINS + `place`
  let facts = workgroupUniformLoad(&team_facts);
  let teams = facts / 2u;
  let wide = facts % 2u > 0u;
  for (var start = 0u; start < teams; start += ROWS) {
    if (start > 0u) { workgroupBarrier(); }
    for (var b = local; b < ROWS * HALF_BINS; b += WORKGROUP) { atomicStore(&room[b], 0u); }
    workgroupBarrier();
    let mine = team.number >= start && team.number < start + ROWS;
    let counters = (team.number - start) * HALF_BINS;
#for i in EACH
    {
      let digit = x$i >> 16u;
      let half = digit / HALF_BINS * 16u;
      let peers = peers_of(digit, team, wide);
      let before = countOneBits(peers & team.before);
      var behind = 0u;
      if (mine && before == 0u) {
        behind = atomicAdd(&room[counters + digit % HALF_BINS], countOneBits(peers) << half);
      }
      // The first of the peers has asked for all of them.
      let all_behind = of_first(behind, peers, team);
      if (mine) { x$i += before + ((all_behind >> half) & 0xffffu); }
    }
#endfor
    workgroupBarrier();
    if (place < HALF_BINS) {
#for r in 16
      let row$r = atomicLoad(&room[$ru * HALF_BINS + place]);
#endfor
#for r in 16
      atomicStore(&room[$ru * HALF_BINS + place], counted);
      counted += row$r;
#endfor
    }
    workgroupBarrier();
    if (mine) {
#for i in EACH
      x$i += (atomicLoad(&room[counters + (x$i >> 16u) % HALF_BINS]) >> ((x$i >> 23u) * 16u)) & 0xffffu;
#endfor
    }
  }
  let sums = team_scan(team, vec2<u32>(own.total, counted), teams);
  if (place < HALF_BINS) {
    // The low halves all come before the high ones.
    tile_starts[place] = sums.before.y + (sums.total.y << 16u);
  }
  workgroupBarrier();
  // Where each digit starts: after all smaller digits of the sequence, and the same digit in earlier tiles.
  if (place < BINS) { starts[place] = sums.before.x + own.earlier - tile_start(place) - params.rank_base; }
#for i in EACH
  let rank$i = (x$i & 0xffffu) + tile_start(x$i >> 16u);
  var out$i = last_pair();
#endfor

#for w in PAIR_WORDS
#for i in EACH
#if SOURCE_PAIRS
  atomicStore(&room[rank$i], word_of_pair(pair$i, $wu));
#else
  atomicStore(&room[rank$i], select(word_of_pair(pair$i, $wu), at$i, $wu == KEY_WORDS));
#endif
#endfor
  workgroupBarrier();
#for i in EACH
  out$i = with_word(out$i, $wu, atomicLoad(&room[$iu * WORKGROUP + local]));
#endfor
  workgroupBarrier();
#endfor

  let to = target_of(sequence);
#for i in EACH
  {
    let slot = $iu * WORKGROUP + local;
#if !SOURCE_PAIRS
    out$i.index = index_at(first + out$i.index);
#endif
    let rank = starts[digit_of(out$i)] + slot;
    if (slot < count && rank < params.rank_count) { put_to(to, rank, out$i); }
  }
#endfor
}

#else

// A tile is a workgroup's, and is first sorted by the digit in workgroup memory, four bits at a time, so that neighbours are written
// together. What is sorted are words of the digit above the position in the tile; keys and indices follow once, by position.
//
// A pass ranks as CUB's block sorts do (Merrill and Grimshaw, "High performance and scalable radix sorting", 2011): each invocation
// counts its EACH consecutive items' digits in its own column of eight words, two digits of 16 bits a word (d and d + 8). An
// exclusive sum over the counters in the order digit, invocation, item tells each item's rank.
#import scan

const ROOM: u32 = max(TILE + WORKGROUP, 8u * WORKGROUP);

var<workgroup> room: array<u32, ROOM>;    // digits, counters, words and keys, one after another
var<workgroup> starts: array<u32, BINS>;  // the rank of the digit's first pair, less that pair's place in the sorted tile

// One spare place after EACH keeps the banks apart.
fn place(position: u32) -> u32 { return position + position / EACH; }

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id / params.members, params.sequences - 1u);
  let tile = id % params.members;
  let row = row_of(sequence);
  let first = tile * TILE;
  // Past its end a tile is filled with copies that sort last.
  let count = select(0u, min(TILE, params.length - first), id / params.members < params.sequences);

  // All loads are under way before the first is used. Neighbours read neighbouring items.
#for i in EACH
  let pair$i = pair_within(row, min(first + $iu * WORKGROUP + local, params.length - 1u));
#endfor
  let mine = local * (EACH + 1u);  // EACH consecutive places
  let across = local + local / EACH;  // and those that neighbours have side by side, ACROSS apart
  const ACROSS = WORKGROUP + WORKGROUP / EACH;
#for i in EACH
  room[across + $iu * ACROSS] = select(BINS - 1u, digit_of(pair$i), $iu * WORKGROUP + local < count);
#endfor

  // Where each digit starts: after all smaller digits of the sequence, and the same digit in earlier tiles.
  var carry = 0u;
  for (var b = 0u; b < BINS; b += WORKGROUP) {
    let digit = min(b + local, BINS - 1u);
    let own = occurs(sequence, tile, digit);
    let sums = scan(local, select(0u, own.total, b + local < BINS));
    if (b + local < BINS) { starts[digit] = carry + sums.before + own.earlier; }
    carry += sums.total;
  }

#for i in EACH
  var x$i = (room[mine + $iu] << 16u) | (local * EACH + $iu);
#endfor

  // This invocation's column of counters, and the eight counters that it adds up: turned in each 32 so that the banks differ
  // both among columns and among invocations that add up.
  let column = (local & ~31u) + ((local + local / 32u) & 31u);
  let lane = local * 8u % WORKGROUP;
  let stretch = local * 8u - lane % 32u;
  let turn = lane + lane / 32u;

  for (var shift = 16u; shift < 16u + params.digit_bits; shift += 4u) {
    workgroupBarrier();
#for d in 8
    room[column + $du * WORKGROUP] = 0u;
#endfor
#for i in EACH
    let counter$i = column + ((x$i >> shift) & 7u) * WORKGROUP;
    let half$i = ((x$i >> (shift + 3u)) & 1u) * 16u;
    let count$i = room[counter$i];
    room[counter$i] = count$i + (1u << half$i);
#endfor
    workgroupBarrier();
    var total = 0u;
#for d in 8
    let sum$d = room[stretch + ((turn + $du) & 31u)];
    total += sum$d;
#endfor
    let sums = scan(local, total);
    // The counts of the low halves all come before those of the high ones.
    var before = sums.before + (sums.total << 16u);
#for d in 8
    room[stretch + ((turn + $du) & 31u)] = before;
    before += sum$d;
#endfor
    workgroupBarrier();
#for i in EACH
    let rank$i = ((room[counter$i] + count$i) >> half$i) & 0xffffu;
#endfor
    workgroupBarrier();
#for i in EACH
    room[place(rank$i)] = x$i;
#endfor
    workgroupBarrier();
    let last = shift + 4u >= 16u + params.digit_bits;
    let begin = select(mine, across, last);
    let step = select(1u, ACROSS, last);
#for i in EACH
    x$i = room[begin + $iu * step];
#endfor
  }

#for i in EACH
  {
    let slot = $iu * WORKGROUP + local;
    if (slot == 0u || room[place(max(slot, 1u) - 1u)] >> 16u != x$i >> 16u) { starts[x$i >> 16u] -= slot; }
  }
#endfor

#for i in EACH
  let home$i = place(x$i & 0xffffu);
  var out$i = last_pair();
#endfor
#if KEY_WORDS == 1
  workgroupBarrier();
#for i in EACH
  room[across + $iu * ACROSS] = pair$i.key;
#endfor
  workgroupBarrier();
#for i in EACH
  out$i.key = room[home$i];
#endfor
#else
#for w in 2
  workgroupBarrier();
#for i in EACH
  room[across + $iu * ACROSS] = pair$i.key[$w];
#endfor
  workgroupBarrier();
#for i in EACH
  out$i.key[$w] = room[home$i];
#endfor
#endfor
#endif
#if !SOURCE_PAIRS
#for i in EACH
  out$i.index = index_at(first + (x$i & 0xffffu));
#endfor
#else
  workgroupBarrier();
#for i in EACH
  room[across + $iu * ACROSS] = pair$i.index;
#endfor
  workgroupBarrier();
#for i in EACH
  out$i.index = room[home$i];
#endfor
#endif

  let to = target_of(sequence);
#for i in EACH
  {
    let slot = $iu * WORKGROUP + local;
    let rank = starts[x$i >> 16u] + slot - params.rank_base;
    if (slot < count && rank < params.rank_count) { put_to(to, rank, out$i); }
  }
#endfor
}

#endif
#endif
