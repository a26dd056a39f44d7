// The first k pairs of every short row, in order, by bisection: input -> sink. One read.
//
// A workgroup, no larger than most subgroups, holds a row in registers. It finds the k-th key bit
// by bit, from the first bit that differs anywhere: all count the keys before a guess. It ends
// where k keys are before one. Else the last of the k share a key, and positions are bisected too.
//   LOADS  of an invocation (lib/thread/row_keys.wgsl)
//   KEYS   of those loads
//   TEAM   invocations of the workgroup
#import order/bits
#import thread/row_keys
#import workgroup/sums
#import workgroup/register_sort

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
#for i in KEYS
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
#for i in KEYS
  count += select(0u, 1u, precedes((*keys)[$i], key));
#endfor
  return count;
}

fn count_equal(row: Row, lane: u32, keys: ptr<function, Keys>, key: Key, end: u32) -> u32 {
  var count = 0u;
#for i in KEYS
  count += select(0u, 1u, equals((*keys)[$i], key) & (position_of(row, $iu, lane) < end));
#endfor
  return count;
}

fn find_threshold(row: Row, lane: u32, keys: ptr<function, Keys>, lanes: u32) -> Threshold {
  let bits = workgroupUniformLoad(&shared_bits);
  var key = bits[1];
  var bit = first_bit(bits[0] & ~bits[1]);
  var found = 0u;
  var turn = 0u;
  while (any_bit(bit)) {
    // The last rounds may have no bit left. They count as many keys as before, or more than k.
#for s in 4
    let guess$s = key | bit;
    let count$s = sum_of_all(lane, lanes, count_before(keys, guess$s), turn);
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
    let count = sum_of_all(lane, lanes, count_equal(row, lane, keys, key, end | e), turn);
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
  begin_sums(local);
  let lanes = lanes_of(local);
  workgroupBarrier();
  share_bits(row, local, &keys);
  let threshold = find_threshold(row, local, &keys, lanes);
  var passing: array<u32, 2>;  // a bit an item
#for i in KEYS
  let equal$i = equals(keys[$i], threshold.key) & (position_of(row, $iu, local) < threshold.end);
  passing[$[i >> 5]] |= select(0u, $[1 << (i & 31)]u, precedes(keys[$i], threshold.key) | equal$i);
#endfor
  var at = reserve(countOneBits(passing[0]) + countOneBits(passing[1]));
#for i in KEYS
  if ((passing[$[i >> 5]] & $[1 << (i & 31)]u) != 0u) {
    list[at] = held_of(Pair(keys[$i], index_at(row, position_of(row, $iu, local))));
    at++;
  }
#endfor
  workgroupBarrier();
  var items: Registers;
#for i in ITEMS_PER_THREAD
  items[$i] = nothing_held();
  if ($iu * WORKGROUP + local < params.k) { items[$i] = list[$iu * WORKGROUP + local]; }
#endfor
  put_sorted(sequence, &items, local, lanes);
}
