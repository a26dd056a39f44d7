// The first k pairs of every short row, in order, by bisection: input -> sink. One read.
//
// A team, no larger than most subgroups, holds a row in registers. It finds the k-th key bit by
// bit, from the first bit that differs anywhere: all count the keys before a guess. After some bits
// it guesses that those left are all ones, or all zeros, as in numbers of few digits. It ends where
// k keys are before a guess, or a few more, up to SORTED, which is k at least. Else the last of the
// k share a key. All with it are sorted where there is room; else positions are bisected too. The
// teams of a workgroup go on together.
//   LOADS  of an invocation (lib/thread/row_keys.wgsl)
//   KEYS   of those loads
//   TEAM   invocations of a team
#import order/bits
#import thread/row_counts
#import workgroup/any
#import workgroup/sums
#if PLACED
#import workgroup/placed_sort
#else
#import workgroup/register_sort
#endif

var<workgroup> listed: array<atomic<u32>, TEAMS>;

const LOOKS: u32 = 3u;  // Every third look, of four guesses each, begins with two of all bits left.

// What passes: keys before `key`, and those equal to it at positions before `end`; so many pairs.
struct Threshold { key: Key, end: u32, passing: u32 }

struct Bits { some: Key, every: Key }

var<workgroup> bits_of_some: array<atomic<u32>, 2u * TEAMS>;
var<workgroup> bits_of_all: array<atomic<u32>, 2u * TEAMS>;

// Comes before a barrier ahead of `bits_of_team`.
fn begin_bits(local: u32) {
  if (local < 2u * TEAMS) {
    atomicStore(&bits_of_some[local], 0u);
    atomicStore(&bits_of_all[local], 0xffffffffu);
  }
}

// Those of all invocations of a team. All of the workgroup call it once, together.
fn bits_of_team(local: u32, mine: Bits) -> Bits {
  let own = local / TEAM * 2u;
#for w in KEY_WORDS
  atomicOr(&bits_of_some[own + $wu], key_word(mine.some, $wu));
  atomicAnd(&bits_of_all[own + $wu], key_word(mine.every, $wu));
#endfor
  workgroupBarrier();
  let last = own + KEY_WORDS - 1u;
  return Bits(key_from(vec2<u32>(atomicLoad(&bits_of_some[own]), atomicLoad(&bits_of_some[last]))),
              key_from(vec2<u32>(atomicLoad(&bits_of_all[own]), atomicLoad(&bits_of_all[last]))));
}

// The bits that some key of the team has, and those that all have. All call it together.
fn bits_of_keys(row: Row, local: u32, keys: ptr<function, Keys>) -> Bits {
  var bits = Bits(Key(), LAST_KEY);
#for i in KEYS
  bits.some |= select(Key(), (*keys)[$i], position_of(row, $iu, local % TEAM) < items_of(row));
  bits.every &= (*keys)[$i];  // all ones where there is no item
#endfor
  return bits_of_team(local, bits);
}

fn find_threshold(row: Row, local: u32, keys: ptr<function, Keys>, lanes: u32) -> Threshold {
  let bits = bits_of_keys(row, local, keys);
  var key = bits.every;
  var bit = first_bit(bits.some & ~bits.every);
  var found = 0u;
  // A team that has found enough, or has no bit left, learns nothing in later rounds.
  for (var looks = 1u; any_of_all(local, any_bit(bit) & (found < params.k)); looks++) {
    let rest = looks % LOOKS == 0u;
#for s in 4
    // All ones, which is a guess like others, and then all zeros, if more than fit are up to them.
    let whole$s = rest & ($s < 2);
    let guess$s = key | select(bit, select(LAST_BIT, up_to_bit(bit) & bits.some, $s == 0), whole$s);
    let count$s = sum_of_team(local, lanes, count_before(keys, guess$s));
    let fits$s = (found < params.k) & (count$s <= SORTED);
    let nearer$s = fits$s & !(whole$s & ($s == 1));
    key = select(key, guess$s, nearer$s);
    found = select(found, count$s, nearer$s);
    bit = select(next_bit(bit), select(bit, Key(), fits$s == ($s == 0)), whole$s);
#endfor
  }
  let few = found < params.k;
  if (!any_of_all(local, few)) { return Threshold(key, 0u, found); }
  // Keys before the last one are fewer than k; those equal to it are enough.
  let alike = sum_of_team(local, lanes, count_equal(row, local % TEAM, keys, key, items_of(row)));
  if (!any_of_all(local, few & (found + alike > SORTED))) {
    return Threshold(key, select(0u, items_of(row), few), select(found, found + alike, few));
  }
  var end = 0u;
  for (var e = 1u << (31u - countLeadingZeros(params.length)); e > 0u; e >>= 1u) {
    let count = sum_of_team(local, lanes, count_equal(row, local % TEAM, keys, key, end | e));
    end |= select(0u, e, found + count <= params.k);
  }
  return Threshold(key, select(0u, end, few), select(found, params.k, few));
}

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup * TEAMS + local / TEAM;
  let lane = local % TEAM;
  let row = row_of(min(sequence, params.sequences - 1u));
  var keys: Keys;
  read_keys(row, lane, &keys);
  begin_bits(local);
  if (local < TEAMS) { atomicStore(&listed[local], 0u); }
  begin_any(local);
  begin_sums(local);
#if PLACED
  begin_range(local);
#endif
  let lanes = lanes_of(local);
  workgroupBarrier();
  let threshold = find_threshold(row, local, &keys, lanes);
  var passing: array<u32, 2>;  // a bit an item
#for i in KEYS
  let equal$i = key_equal(keys[$i], threshold.key) & (position_of(row, $iu, lane) < threshold.end);
  passing[$[i >> 5]] |= select(0u, $[1 << (i & 31)]u, key_less(keys[$i], threshold.key) | equal$i);
#endfor
  let home = (local - lane) * ITEMS_PER_THREAD;
#if PLACED
  var range = vec2<u32>(LAST_KEY, threshold.key);
#for i in KEYS
  range.x = min(range.x, keys[$i]);
#endfor
  if (threshold.key == LAST_KEY) {  // it is beyond the range, as many items of ragged rows have it
    range.y = 0u;
#for i in KEYS
    range.y = max(range.y, select(0u, keys[$i], keys[$i] != LAST_KEY));
#endfor
  }
  let packing = packing_up_to(range_of_team(local, lanes, range), PLACE_BITS);
#endif
  let first = home + atomicAdd(&listed[local / TEAM], countOneBits(passing[0]) + countOneBits(passing[1]));
  var items: Registers;
#for i in ITEMS_PER_THREAD
  items[$i] = nothing_held();
#endfor
#for w in HELD_WORDS
#if $w > 0
  workgroupBarrier();
#endif
  var at$w = first;
#for i in KEYS
  if ((passing[$[i >> 5]] & $[1 << (i & 31)]u) != 0u) {
#if PLACED
    list[at$w] = placed(packing, keys[$i], position_of(row, $iu, lane) + row.skew);
#else
    list[at$w] = word_held(held_of(Pair(keys[$i], index_at(row, position_of(row, $iu, lane)))), $wu);
#endif
    at$w++;
  }
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  if ($iu * TEAM + lane < threshold.passing) { items[$i] = with_word_held(items[$i], $wu, list[home + $iu * TEAM + lane]); }
#endfor
#endfor
#if PLACED
  sort_placed(row, packing, &items, local, lanes);
#else
  sort_teams(&items, local, lanes);
#endif
  put_sorted(sequence, &items, local);
}
