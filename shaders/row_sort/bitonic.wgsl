// The first k pairs of every short sequence, in order, by a bitonic sort: source -> sink.
// Batcher, "Sorting networks and their applications", 1968; merges mirror, so all sorts ascend.
//
// A team sorts a sequence of up to 2^size_bits items, ITEMS_PER_THREAD (8 or 16) an invocation in
// registers. A register's number is ITEM_BITS (3 or 4) bits of the position, from bit s on in
// arrangement s: so many steps run between two exchanges through workgroup memory.
//   HALF   half of ITEMS_PER_THREAD: comparators of a step
//   SPLIT  1 where the pairs exceed the memory, so that one word of them moves at a time
#import io/source
#import io/sink

alias Items = array<Pair, ITEMS_PER_THREAD>;

#if SPLIT
var<workgroup> room: array<u32, WORKGROUP * (ITEMS_PER_THREAD + 1u)>;
#else
var<workgroup> room: array<Stored, WORKGROUP * (ITEMS_PER_THREAD + 1u)>;
#endif

// The positions of an invocation are its first one plus a register's number shifted by s.
fn first_position(s: u32, t: u32) -> u32 { return ((t >> s) << (s + ITEM_BITS)) | (t & ((1u << s) - 1u)); }

// Where positions lie in memory: one place to spare after ITEMS_PER_THREAD keeps the banks apart.
// place(a) + place(b) is place(a + b) where a and b have no bit in common.
fn place(position: u32) -> u32 { return position + (position >> ITEM_BITS); }

struct Ordered { low: Pair, high: Pair }

fn ordered(a: Pair, b: Pair) -> Ordered {
  let swap = before(b, a);
  return Ordered(Pair(select(a.key, b.key, swap), select(a.index, b.index, swap)),
                 Pair(select(b.key, a.key, swap), select(b.index, a.index, swap)));
}

// Sorts the registers: runs of 2, 4, 8 (and 16). The first step of each merge mirrors.
fn sort_registers(x: ptr<function, Items>) {
#for r in ITEM_BITS
#for p in HALF
  let mirrored$[r]x$p = ordered((*x)[$[2*(p - p%(1<<r)) + p%(1<<r)]], (*x)[$[(2*(p - p%(1<<r)) + p%(1<<r)) ^ ((2<<r) - 1)]]);
  (*x)[$[2*(p - p%(1<<r)) + p%(1<<r)]] = mirrored$[r]x$p.low;
  (*x)[$[(2*(p - p%(1<<r)) + p%(1<<r)) ^ ((2<<r) - 1)]] = mirrored$[r]x$p.high;
#endfor
#for s in ITEM_BITS
#if $r > $s
#for p in HALF
  let pair$[r]x$[s]x$p = ordered((*x)[$[2*(p - p%((1<<r)>>(s+1))) + p%((1<<r)>>(s+1))]],
                                 (*x)[$[2*(p - p%((1<<r)>>(s+1))) + p%((1<<r)>>(s+1)) + ((1<<r)>>(s+1))]]);
  (*x)[$[2*(p - p%((1<<r)>>(s+1))) + p%((1<<r)>>(s+1))]] = pair$[r]x$[s]x$p.low;
  (*x)[$[2*(p - p%((1<<r)>>(s+1))) + p%((1<<r)>>(s+1)) + ((1<<r)>>(s+1))]] = pair$[r]x$[s]x$p.high;
#endfor
#endif
#endfor
#endfor
}

// In arrangement s, the steps of a merge of runs of 2^run for the position's bits from `lowest` on.
fn merge_registers(x: ptr<function, Items>, s: u32, run: u32, lowest: u32) {
#for b in ITEM_BITS
  if (s + $[ITEM_BITS - 1 - b]u < run && s + $[ITEM_BITS - 1 - b]u >= lowest) {
#for p in HALF
    let pair$p = ordered((*x)[$[2*(p - p%(HALF>>b)) + p%(HALF>>b)]], (*x)[$[2*(p - p%(HALF>>b)) + p%(HALF>>b) + (HALF>>b)]]);
    (*x)[$[2*(p - p%(HALF>>b)) + p%(HALF>>b)]] = pair$p.low;
    (*x)[$[2*(p - p%(HALF>>b)) + p%(HALF>>b) + (HALF>>b)]] = pair$p.high;
#endfor
  }
#endfor
}

// Where an exchange puts the registers of an invocation, and where it takes the next ones from.
struct Exchange {
  write: u32,        // The place of the first, in arrangement write_shift.
  write_shift: u32,
  read: u32,         // The place of the first, in arrangement read_shift.
  read_shift: u32,
  read_back: u32,    // The same for registers with bit `half`, whose runs are read backwards.
  back_number: u32,
  half: u32,
}

// From arrangement s to `next`. A merge's first step reads each run's second half backwards, which
// turns over all lower bits of the position (`turned`).
fn exchange_of(s: u32, next: u32, run: u32, turned: u32, home: u32, t: u32) -> Exchange {
  let back = turned & ~((ITEMS_PER_THREAD - 1u) << next);
  return Exchange(home + place(first_position(s, t)), s, home + place(first_position(next, t)), next,
                  home + place(first_position(next, t) ^ back), (turned >> next) & (ITEMS_PER_THREAD - 1u),
                  select(0u, 1u << (run - 1u - next), turned != 0u));
}

fn place_read(e: Exchange, i: u32) -> u32 {
  return select(e.read + place(i << e.read_shift), e.read_back + place((i ^ e.back_number) << e.read_shift), (i & e.half) != 0u);
}

#if SPLIT

// All invocations call it together.
fn exchange(x: ptr<function, Items>, e: Exchange) {
#for w in PAIR_WORDS
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  room[e.write + place($iu << e.write_shift)] = word_of_pair((*x)[$i], $wu);
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  (*x)[$i] = with_word((*x)[$i], $wu, room[place_read(e, $iu)]);
#endfor
#endfor
}

#else

// All invocations call it together.
fn exchange(x: ptr<function, Items>, e: Exchange) {
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  room[e.write + place($iu << e.write_shift)] = store_of((*x)[$i]);
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  (*x)[$i] = pair_of(room[place_read(e, $iu)]);
#endfor
}

#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let team_bits = params.size_bits - ITEM_BITS;
  let t = local & ((1u << team_bits) - 1u);
  let home = ((local >> team_bits) * (ITEMS_PER_THREAD + 1u)) << team_bits;
  let sequence = linear_workgroup(workgroup, grid) * (WORKGROUP >> team_bits) + (local >> team_bits);
  let live = sequence < params.sequences;
  let row = row_of(min(sequence, params.sequences - 1u));
  // Where the items start does not matter: read neighbours by neighbours.
  var x: Items;
#for i in ITEMS_PER_THREAD
  x[$i] = last_pair();
  if (live) { x[$i] = pair_at(row, ($iu << team_bits) + t); }
#endfor
  sort_registers(&x);
  var s = 0u;
  // The last round only lays the sorted positions out for writing.
  for (var run = ITEM_BITS + 1u; run <= params.size_bits + 1u; run++) {
    let lays_out = run > params.size_bits;
    let top = select((run - 1u) / ITEM_BITS, 0u, lays_out);
    for (var step = 0u; step <= top; step++) {
      let lowest = ITEM_BITS * (top - step);
      // In arrangement `team_bits` neighbours are neighbours in memory.
      let next = select(min(lowest, team_bits), team_bits, lays_out);
      let turned = select(0u, (1u << (run - 1u)) - 1u, step == 0u && !lays_out);
      exchange(&x, exchange_of(s, next, run, turned, home, t));
      s = next;
      if (!lays_out) { merge_registers(&x, s, run, lowest); }
    }
  }
  let to = target_of(sequence);
#for i in ITEMS_PER_THREAD
  if (live && ($iu << team_bits) + t < params.k) { put_to(to, ($iu << team_bits) + t, x[$i]); }
#endfor
}
