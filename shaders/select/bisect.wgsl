// The first k pairs of every short row, in order, by bisection: input -> sink. One read.
//
// A team, no larger than most subgroups, holds a row in registers. It looks for a key that k others
// precede, or a few more, up to SORTED, which is k at least. All count the keys before a guess:
// three halve what is between the keys tried so far, and one interpolates between their counts. If
// no key is left, many share the k-th. All with it are sorted where there is room; else their
// positions are bisected. The teams of a workgroup go on together.
//   LOADS  of an invocation (lib/thread/row_keys.wgsl)
//   KEYS   of those loads, 64 at most
//   TEAM   invocations of a team
#import order/between
#import thread/row_keys
#import workgroup/any
#import workgroup/least_key
#if PLACED
#import workgroup/placed_sort
#else
#import workgroup/register_sort
#endif

var<workgroup> listed: array<atomic<u32>, TEAMS>;

alias Bits = vec2<u32>;  // a bit for each of an invocation's items

// The items that pass, so many in a team, whose keys are from the least to the greatest one. That
// is not the last key, which the items that some ragged rows lack have too.
struct Passing { bits: Bits, count: u32, range: Range }

fn bits_before(keys: ptr<function, Keys>, key: Key) -> Bits {
  var bits = Bits(0u, 0u);
#for i in KEYS
  bits[$[i >> 5]] |= select(0u, $[1 << (i & 31)]u, key_less((*keys)[$i], key));
#endfor
  return bits;
}

// The items with a key, of positions before `end`.
fn bits_equal(row: Row, lane: u32, keys: ptr<function, Keys>, key: Key, end: u32) -> Bits {
  var bits = Bits(0u, 0u);
#for i in KEYS
  bits[$[i >> 5]] |= select(0u, $[1 << (i & 31)]u, key_equal((*keys)[$i], key) & (position_of(row, $iu, lane) < end));
#endfor
  return bits;
}

fn sum_of_bits(local: u32, lanes: u32, bits: Bits) -> u32 {
  return sum_of_team(local, lanes, countOneBits(bits.x) + countOneBits(bits.y));
}

// Of keys that are not the last one; where there is none the first is behind the second.
fn range_of_keys(local: u32, lanes: u32, keys: ptr<function, Keys>) -> Range {
  var range = Range(LAST_KEY, Key());
#for i in KEYS
  range.least = key_min(range.least, (*keys)[$i]);
  range.greatest = key_max(range.greatest, select((*keys)[$i], Key(), key_equal((*keys)[$i], LAST_KEY)));
#endfor
  return range_of_team(local, lanes, range);
}

fn find_passing(row: Row, local: u32, keys: ptr<function, Keys>, lanes: u32) -> Passing {
  let range = range_of_keys(local, lanes, keys);
  // Of keys to try, those behind `low`, which `found` others precede, up to `high`. One more than
  // that has `more` before it.
  var low = range.least;
  var high = key_max(range.least, range.greatest);
  var found = 0u;
  var more = items_of(row);
  var passing = Bits(0u, 0u);
  // A team that has found enough, or has no key left, learns nothing in later rounds.
  while (any_of_all(local, key_less(low, high) & (found < params.k))) {
#for s in 4
    let open$s = key_less(low, high) & (found < params.k);
#if 3 > $s
    let guess$s = key_amid(low, high);
#else
    let share$s = ((params.k + SORTED) / 2u - found) * 256u / max(more - found, 1u);
    let guess$s = key_between(low, high, min(share$s, 256u));
#endif
    let bits$s = bits_before(keys, guess$s);
    let count$s = sum_of_bits(local, lanes, bits$s);
    let nearer$s = open$s & (count$s <= SORTED);
    high = select(high, key_minus(guess$s, KEY_STEP), open$s & !nearer$s);
    more = select(more, count$s, open$s & !nearer$s);
    low = select(low, guess$s, nearer$s);
    found = select(found, count$s, nearer$s);
    passing = select(passing, bits$s, nearer$s);
#endfor
  }
  let few = found < params.k;
  if (!any_of_all(local, few)) { return Passing(passing, found, Range(range.least, low)); }
  // Keys before `low` are too few. With those equal to it they are enough, unless the k-th is the
  // last key of all.
  let lane = local % TEAM;
  let equal = sum_of_bits(local, lanes, bits_equal(row, lane, keys, low, items_of(row)));
  let beyond = found + equal < params.k;
  let key = select(low, LAST_KEY, beyond);
  let earlier = select(found, found + equal, beyond);
  var end = items_of(row);
  if (any_of_all(local, few & (select(found + equal, items_of(row), beyond) > SORTED))) {
    end = 0u;
    for (var e = 1u << (31u - countLeadingZeros(params.length)); e > 0u; e >>= 1u) {
      let count = sum_of_bits(local, lanes, bits_equal(row, lane, keys, key, min(end | e, items_of(row))));
      end |= select(0u, e, earlier + count <= params.k);
    }
  }
  let bits = bits_before(keys, key) | bits_equal(row, lane, keys, key, min(end, items_of(row)));
  let count = sum_of_bits(local, lanes, bits);
  let last = select(low, range.greatest, key_equal(low, LAST_KEY));
  return Passing(select(passing, bits, few), select(found, count, few), Range(range.least, last));
}

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup * TEAMS + local / TEAM;
  let lane = local % TEAM;
  let row = row_of(min(sequence, params.sequences - 1u));
  var keys: Keys;
  read_keys(row, lane, &keys);
  if (local < TEAMS) { atomicStore(&listed[local], 0u); }
  begin_any(local);
  begin_sums(local);
  let lanes = lanes_of(local);
  workgroupBarrier();
  let passing = find_passing(row, local, &keys, lanes);
  let home = (local - lane) * ITEMS_PER_THREAD;
#if PLACED
  let packing = packing_of_range(passing.range);
#endif
  let first = home + atomicAdd(&listed[local / TEAM], countOneBits(passing.bits.x) + countOneBits(passing.bits.y));
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
  if ((passing.bits[$[i >> 5]] & $[1 << (i & 31)]u) != 0u) {
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
  if ($iu * TEAM + lane < passing.count) { items[$i] = with_word_held(items[$i], $wu, list[home + $iu * TEAM + lane]); }
#endfor
#endfor
#if PLACED
  sort_placed(row, packing, &items, local, lanes);
#else
  sort_teams(&items, local, lanes);
#endif
  put_sorted(sequence, &items, local);
}
