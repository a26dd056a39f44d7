// The first k pairs of every short sequence, in order, by a bitonic sort: source (bindings 1 to 3) -> sink (4, 5).
// Batcher, "Sorting networks and their applications", 1968; every comparator is ascending, since each merge mirrors its second half.
//
// A team of CAPACITY / EACH invocations sorts one sequence of at most CAPACITY (2^SIZE) items, EACH (8 or 16) an invocation in
// registers. They hold BITS (3 or 4) bits of the position, so that many steps of the network run between two exchanges through
// workgroup memory: in arrangement s an invocation holds the positions whose bits s to s + BITS - 1 are its register's number.
// SPLIT = 1 moves one word of the pairs at a time, for sequences whose pairs do not fit the memory at once.
#import source
#import sink

const TEAM: u32 = CAPACITY / EACH;
const TEAMS: u32 = WORKGROUP / TEAM;
const ROOM: u32 = CAPACITY + CAPACITY / EACH;
const LOOSE: u32 = SIZE - BITS;  // the arrangement whose neighbours are neighbours in memory

#if SPLIT
var<workgroup> room: array<u32, TEAMS * ROOM>;
#else
var<workgroup> room: array<Stored, TEAMS * ROOM>;
#endif

// The positions of an invocation are its first one plus a register's number shifted by s.
fn first_position(s: u32, t: u32) -> u32 { return ((t >> s) << (s + BITS)) | (t & ((1u << s) - 1u)); }

// Where positions lie in memory: one spare place after EACH keeps the banks apart. Sums of positions without a common bit add up.
fn place(position: u32) -> u32 { return position + (position >> BITS); }

fn order(a: ptr<function, Pair>, b: ptr<function, Pair>) {
  let low = *a;
  let high = *b;
  let swap = before(high, low);
  (*a).key = select(low.key, high.key, swap);
  (*a).index = select(low.index, high.index, swap);
  (*b).key = select(high.key, low.key, swap);
  (*b).index = select(high.index, low.index, swap);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let t = local % TEAM;
  let home = local / TEAM * ROOM;
  let sequence = linear_workgroup(workgroup, grid) * TEAMS + local / TEAM;
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));

  // Where the items start does not matter: read neighbours by neighbours.
#for i in EACH
  var x$i = last_pair();
  if (live) { x$i = pair_at(row, $iu * TEAM + t); }
#endfor

  // Runs of 2, 4, 8 (and 16) inside the registers; the first step of each merge mirrors.
#for p in HALF
  order(&x$[2*(p - p%1) + p%1], &x$[(2*(p - p%1) + p%1) ^ 1]);
#endfor
#for p in HALF
  order(&x$[2*(p - p%2) + p%2], &x$[(2*(p - p%2) + p%2) ^ 3]);
#endfor
#for p in HALF
  order(&x$[2*(p - p%1) + p%1], &x$[(2*(p - p%1) + p%1) ^ 1]);
#endfor
#for p in HALF
  order(&x$[2*(p - p%4) + p%4], &x$[(2*(p - p%4) + p%4) ^ 7]);
#endfor
#for p in HALF
  order(&x$[2*(p - p%2) + p%2], &x$[(2*(p - p%2) + p%2) ^ 2]);
#endfor
#for p in HALF
  order(&x$[2*(p - p%1) + p%1], &x$[(2*(p - p%1) + p%1) ^ 1]);
#endfor
#if EACH == 16
#for p in HALF
  order(&x$[2*(p - p%8) + p%8], &x$[(2*(p - p%8) + p%8) ^ 15]);
#endfor
#for p in HALF
  order(&x$[2*(p - p%4) + p%4], &x$[(2*(p - p%4) + p%4) ^ 4]);
#endfor
#for p in HALF
  order(&x$[2*(p - p%2) + p%2], &x$[(2*(p - p%2) + p%2) ^ 2]);
#endfor
#for p in HALF
  order(&x$[2*(p - p%1) + p%1], &x$[(2*(p - p%1) + p%1) ^ 1]);
#endfor
#endif

  var s = 0u;
  // The last round only lays the sorted positions out for writing.
  for (var run = BITS + 1u; run <= SIZE + 1u; run++) {
    let top = select((run - 1u) / BITS, 0u, run > SIZE);
    for (var step = 0u; step <= top; step++) {
      let lowest = BITS * (top - step);
      let next = select(min(lowest, LOOSE), LOOSE, run > SIZE);
      // The first step of a merge reads the second half of each run backwards: there all lower bits of the position are turned
      // over, those of the register's number as well as the others.
      let turned = select(0u, (1u << (run - 1u)) - 1u, step == 0u && run <= SIZE);
      let back = turned & ~((EACH - 1u) << next);
      let back_number = (turned >> next) & (EACH - 1u);
      let half = select(0u, 1u << (run - 1u - next), turned != 0u);
      let write = home + place(first_position(s, t));
      let read = home + place(first_position(next, t));
      let read_back = home + place(first_position(next, t) ^ back);

#if SPLIT
#for w in WORDS
      workgroupBarrier();
#for i in EACH
      room[write + place($iu << s)] = word_$w(x$i);
#endfor
      workgroupBarrier();
#for i in EACH
      set_word_$w(&x$i, room[select(read + place($iu << next), read_back + place(($iu ^ back_number) << next), ($iu & half) != 0u)]);
#endfor
#endfor
#else
      workgroupBarrier();
#for i in EACH
      room[write + place($iu << s)] = store_of(x$i);
#endfor
      workgroupBarrier();
#for i in EACH
      x$i = pair_of(room[select(read + place($iu << next), read_back + place(($iu ^ back_number) << next), ($iu & half) != 0u)]);
#endfor
#endif

      s = next;
      if (run <= SIZE) {
#if EACH == 16
        if (s + 3u < run && s + 3u >= lowest) {
#for p in HALF
          order(&x$[2*(p - p%8) + p%8], &x$[2*(p - p%8) + p%8 + 8]);
#endfor
        }
#endif
        if (s + 2u < run && s + 2u >= lowest) {
#for p in HALF
          order(&x$[2*(p - p%4) + p%4], &x$[2*(p - p%4) + p%4 + 4]);
#endfor
        }
        if (s + 1u < run && s + 1u >= lowest) {
#for p in HALF
          order(&x$[2*(p - p%2) + p%2], &x$[2*(p - p%2) + p%2 + 2]);
#endfor
        }
        if (s >= lowest) {
#for p in HALF
          order(&x$[2*(p - p%1) + p%1], &x$[2*(p - p%1) + p%1 + 1]);
#endfor
        }
      }
    }
  }

  let to = target_of(sequence);
#for i in EACH
  if (live && $iu * TEAM + t < params.k) { put_to(to, $iu * TEAM + t, x$i); }
#endfor
}

#if SPLIT
#if KEY_WORDS == 1
fn word_0(pair: Pair) -> u32 { return pair.key; }
fn word_1(pair: Pair) -> u32 { return pair.index; }
fn set_word_0(pair: ptr<function, Pair>, word: u32) { (*pair).key = word; }
fn set_word_1(pair: ptr<function, Pair>, word: u32) { (*pair).index = word; }
#else
fn word_0(pair: Pair) -> u32 { return pair.key.x; }
fn word_1(pair: Pair) -> u32 { return pair.key.y; }
fn word_2(pair: Pair) -> u32 { return pair.index; }
fn set_word_0(pair: ptr<function, Pair>, word: u32) { (*pair).key.x = word; }
fn set_word_1(pair: ptr<function, Pair>, word: u32) { (*pair).key.y = word; }
fn set_word_2(pair: ptr<function, Pair>, word: u32) { (*pair).index = word; }
#endif
#endif
