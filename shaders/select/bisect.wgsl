// The first k pairs of every short row, in order, by bisection: input -> sink. One read.
//
// A workgroup, no larger than most subgroups, holds a row in registers. It finds the k-th key bit
// by bit, from the first bit that differs anywhere: all count the keys before a guess. It ends
// where k keys are before one. Else the last of the k share a key, and positions are bisected too.
//   LOADS             of an invocation (lib/thread/row_keys.wgsl)
//   ITEMS_PER_THREAD  of those loads
//   TEAM              invocations of the workgroup
//   OWN               pairs of an invocation in the list of the first k, ordered by counting
#import order/bits
#import thread/row_keys
#import workgroup/sums
#import io/sink

var<workgroup> bits_of_some: array<atomic<u32>, 2>;
var<workgroup> bits_of_all: array<atomic<u32>, 2>;
var<workgroup> shared_bits: array<Key, 2>;
var<workgroup> shared_found: u32;
var<workgroup> listed: atomic<u32>;

// Of all keys, those before `key` are among the first k, and those equal to it before `end`.
struct Threshold { key: Key, end: u32 }

// The position of an invocation's item, or more than any where there is none.
fn position_of(row: Row, i: u32, lane: u32) -> u32 {
  return i / PER_LOAD * TEAM * PER_LOAD + i % PER_LOAD + lane * PER_LOAD - row.skew;
}

// Shares the bits that some key has, and those that all have. All call it together.
fn share_bits(row: Row, lane: u32, keys: ptr<function, Keys>) {
  var some = Key();
  var every = LAST_KEY;
#for i in ITEMS_PER_THREAD
  some |= select(Key(), (*keys)[$i], position_of(row, $iu, lane) < items_of(row));
  every &= (*keys)[$i];  // all ones where there is no item
#endfor
#if SUBGROUPS
  some = subgroupOr(some);
  every = subgroupAnd(every);
  let first = subgroupExclusiveAdd(1u) == 0u;
#else
  let first = true;
#endif
  if (first) {
#if KEY_WORDS == 1
    atomicOr(&bits_of_some[0], some);
    atomicAnd(&bits_of_all[0], every);
#else
#for w in 2
    atomicOr(&bits_of_some[$w], some[$w]);
    atomicAnd(&bits_of_all[$w], every[$w]);
#endfor
#endif
  }
  workgroupBarrier();
  if (lane == 0u) {
#if KEY_WORDS == 1
    shared_bits[0] = atomicLoad(&bits_of_some[0]);
    shared_bits[1] = atomicLoad(&bits_of_all[0]);
#else
    shared_bits[0] = Key(atomicLoad(&bits_of_some[0]), atomicLoad(&bits_of_some[1]));
    shared_bits[1] = Key(atomicLoad(&bits_of_all[0]), atomicLoad(&bits_of_all[1]));
#endif
  }
}

fn count_before(keys: ptr<function, Keys>, key: Key) -> u32 {
  var count = 0u;
#for i in ITEMS_PER_THREAD
  count += select(0u, 1u, precedes((*keys)[$i], key));
#endfor
  return count;
}

fn count_equal(row: Row, lane: u32, keys: ptr<function, Keys>, key: Key, end: u32) -> u32 {
  var count = 0u;
#for i in ITEMS_PER_THREAD
  count += select(0u, 1u, equals((*keys)[$i], key) & (position_of(row, $iu, lane) < end));
#endfor
  return count;
}

fn find_threshold(row: Row, lane: u32, keys: ptr<function, Keys>, alone: bool) -> Threshold {
  let bits = workgroupUniformLoad(&shared_bits);
  var key = bits[1];
  var bit = first_bit(bits[0] & ~bits[1]);
  var found = 0u;
  var turn = 0u;
  while (any_bit(bit)) {
    // The last rounds may have no bit left. They count as many keys as before, or more than k.
#for s in 4
    let guess$s = key | bit;
    let count$s = sum_of_all(lane, count_before(keys, guess$s), turn, alone);
    turn = select(turn + 1u, 0u, turn == 2u);
    key = select(key, guess$s, count$s <= params.k);
    found = select(found, count$s, count$s <= params.k);
    bit = next_bit(bit);
#endfor
    if (lane == 0u) { shared_found = found; }
    if (workgroupUniformLoad(&shared_found) == params.k) { return Threshold(key, 0u); }
  }
  // Keys before the last one are fewer than k; those equal to it are enough.
  let wanted = params.k - found;
  var end = 0u;
  for (var e = 1u << (31u - countLeadingZeros(params.length)); e > 0u; e >>= 1u) {
    let count = sum_of_all(lane, count_equal(row, lane, keys, key, end | e), turn, alone);
    turn = select(turn + 1u, 0u, turn == 2u);
    end |= select(0u, e, count <= wanted);
  }
  return Threshold(key, end);
}

// The first of as many places as an invocation asks for. All call it together.
fn reserve(mine: u32) -> u32 {
#if SUBGROUPS
  let earlier = subgroupExclusiveAdd(mine);
  let all_of = subgroupAdd(mine);
  var first = 0u;
  if (subgroupExclusiveAdd(1u) == 0u) { first = atomicAdd(&listed, all_of); }
  // After it all of a subgroup are together again.
  workgroupBarrier();
  return subgroupBroadcastFirst(first) + earlier;
#else
  return atomicAdd(&listed, mine);
#endif
}

var<workgroup> list: array<Stored, OWN * WORKGROUP>;

// A pair's rank is the number of pairs before it.
fn put_list(sequence: u32, local: u32) {
#for i in OWN
  if ($iu * WORKGROUP + local >= params.k) { list[$iu * WORKGROUP + local] = store_of(last_pair()); }
#endfor
  workgroupBarrier();
#for i in OWN
  let own$i = pair_of(list[$iu * WORKGROUP + local]);
  var rank$i = 0u;
#endfor
  for (var j = 0u; j < params.k; j += 4u) {
#for u in 4
    let other$u = pair_of(list[j + $uu]);
#endfor
#for u in 4
#for i in OWN
    rank$i += select(0u, 1u, before(other$u, own$i));
#endfor
#endfor
  }
  if (sequence >= params.sequences) { return; }
  let to = target_of(sequence);
#for i in OWN
  if ($iu * WORKGROUP + local < params.k) { put_to(to, rank$i, own$i); }
#endfor
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  let row = row_of(min(sequence, params.sequences - 1u));
  var keys: Keys;
  read_keys(row, local, &keys);
  if (local < 2u) {
    atomicStore(&bits_of_some[local], 0u);
    atomicStore(&bits_of_all[local], 0xffffffffu);
  }
  if (local == 0u) { atomicStore(&listed, 0u); }
  let alone = begin_sums(local);
  share_bits(row, local, &keys);
  let threshold = find_threshold(row, local, &keys, alone);
  var passing = 0u;  // a bit an item
#for i in ITEMS_PER_THREAD
  let equal$i = equals(keys[$i], threshold.key) & (position_of(row, $iu, local) < threshold.end);
  passing |= select(0u, $[1 << i]u, precedes(keys[$i], threshold.key) | equal$i);
#endfor
  var place = reserve(countOneBits(passing));
#for i in ITEMS_PER_THREAD
  if ((passing & $[1 << i]u) != 0u) {
    list[place] = store_of(Pair(keys[$i], index_at(row, position_of(row, $iu, local))));
    place++;
  }
#endfor
  put_list(sequence, local);
}
