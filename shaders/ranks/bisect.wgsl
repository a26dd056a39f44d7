// The pairs at several ranks of short sequences, by bisection: source, ranks -> pairs. One read.
//
// A team holds a sequence in registers. For a rank it looks for an interval of few pairs with the
// wanted one: bit by bit of the key, from the first bit that differs anywhere, and then of the
// position, unless params.index_bits is 0: then those of a key are alike. Pairs of that interval
// are listed, and each counts those before it. Other wanted ranks may lie there too. The teams of
// a workgroup go on together.
//   LOADS   of an invocation (lib/thread/row_keys.wgsl)
//   KEYS    of those loads
//   TEAM    invocations of a team
//   LISTED  pairs of an interval, at most; EACH of an invocation
//   LOOK    bits between two looks at whether any team goes on
#import io/rank_pairs
#import io/ranks
#import order/bits
#import thread/row_keys
#import workgroup/any
#import workgroup/least_key
#import workgroup/sums

// Pairs at `before` and more of a sequence in order, up to `behind`. Their keys have those bits of
// `key` that are not in `rest`, and they lie at `size` positions from `position` on.
struct Interval { key: Key, rest: Key, position: u32, size: u32, before: u32, behind: u32 }

var<workgroup> listed: array<atomic<u32>, TEAMS>;
var<workgroup> list: array<Pair, TEAMS * LISTED>;  // [team][pair], a key and its position

var<private> own_pairs: array<Pair, EACH>;
var<private> own_ranks: array<u32, EACH>;

// Whether any team of those that wait for each other goes on.
fn goes_on(local: u32, mine: bool) -> bool {
#if TEAM == 1
  return mine;
#else
  return any_of_all(local, mine);
#endif
}

fn range_of_keys(row: Row, local: u32, lanes: u32, keys: ptr<function, Keys>) -> Range {
  var range = Range(LAST_KEY, Key());
#for i in KEYS
  range.least = key_min(range.least, (*keys)[$i]);  // the last key where there is no item
  range.greatest = key_max(range.greatest, select(Key(), (*keys)[$i], position_of(row, $iu, lane_in_team(local)) < items_of(row)));
#endfor
  return range_of_team(local, lanes, range);
}

fn count_before(keys: ptr<function, Keys>, key: Key) -> u32 {
  var count = 0u;
#for i in KEYS
  count += select(0u, 1u, key_less((*keys)[$i], key));
#endfor
  return count;
}

fn count_equal(row: Row, lane: u32, keys: ptr<function, Keys>, key: Key, end: u32) -> u32 {
  var count = 0u;
#for i in KEYS
  count += select(0u, 1u, key_equal((*keys)[$i], key) & (position_of(row, $iu, lane) < end));
#endfor
  return count;
}

// An interval of up to LISTED pairs with the one that `earlier` ones precede.
fn find_interval(row: Row, local: u32, lanes: u32, keys: ptr<function, Keys>, range: Range, earlier: u32) -> Interval {
  var bit = first_bit(range.least ^ range.greatest);
  var at = Interval(range.least & ~up_to_bit(bit), up_to_bit(bit), 0u, items_of(row), 0u, items_of(row));
  while (goes_on(local, (at.behind - at.before > LISTED) & any_bit(bit))) {
#for s in LOOK
    let open$s = (at.behind - at.before > LISTED) & any_bit(bit);
    let count$s = sum_of_team(local, lanes, count_before(keys, at.key | bit));
    let above$s = open$s & (count$s <= earlier);
    at.key = select(at.key, at.key | bit, above$s);
    at.before = select(at.before, count$s, above$s);
    at.behind = select(at.behind, count$s, open$s & !above$s);
    bit = select(bit, next_bit(bit), open$s);
#endfor
  }
  at.rest = up_to_bit(bit);
  if (params.index_bits == 0u || !goes_on(local, at.behind - at.before > LISTED)) { return at; }
  let smaller = at.before;
  var end = 1u << (31u - countLeadingZeros(params.length));
  while (goes_on(local, at.behind - at.before > LISTED)) {
    let open = at.behind - at.before > LISTED;
    // What is no item may have the same key.
    let equal = count_equal(row, lane_in_team(local), keys, at.key, min(at.position | end, items_of(row)));
    let count = smaller + sum_of_team(local, lanes, equal);
    let above = open & (count <= earlier);
    at.position = select(at.position, at.position | end, above);
    at.before = select(at.before, count, above);
    at.behind = select(at.behind, count, open & !above);
    at.size = select(at.size, min(end, items_of(row) - at.position), open);
    end >>= 1u;
  }
  return at;
}

// Whether the pairs of an interval are alike.
fn are_alike(at: Interval) -> bool { return params.index_bits == 0u && !any_bit(at.rest); }

// Lists an interval's pairs, unless they are alike, and gives each invocation EACH of them with
// their ranks.
fn list_interval(row: Row, local: u32, keys: ptr<function, Keys>, at: Interval) {
  let lane = lane_in_team(local);
  let all = select(at.behind - at.before, 0u, are_alike(at));
  let size = select(0u, at.size, all > 0u);
  var count = 0u;
#for i in KEYS
  let inside$i = key_equal((*keys)[$i] & ~at.rest, at.key & ~at.rest) & (position_of(row, $iu, lane) - at.position < size);
  count += select(0u, 1u, inside$i);
#endfor
  let home = team_number(local) * LISTED;
#if TEAM == 1
  var place = home;
#else
  if (lane == 0u) { atomicStore(&listed[team_number(local)], 0u); }
  workgroupBarrier();
  var place = home + atomicAdd(&listed[team_number(local)], count);
#endif
#for i in KEYS
  if (inside$i) {
    list[place] = Pair((*keys)[$i], position_of(row, $iu, lane));
    place++;
  }
#endfor
#if TEAM > 1
  workgroupBarrier();
#endif
#for e in EACH
  own_pairs[$e] = list[home + min($e * TEAM + lane, max(all, 1u) - 1u)];
  own_ranks[$e] = select(0xffffffffu, at.before, $e * TEAM + lane < all);
#endfor
  for (var j = 0u; j < all; j++) {
    let other = list[home + j];
#for e in EACH
    own_ranks[$e] += select(0u, 1u, before(other, own_pairs[$e]) & ($e * TEAM + lane < all));
#endfor
  }
}

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup * TEAMS + team_number(local);
  let row = row_of(min(sequence, params.sequences - 1u));
  var keys: Keys;
  read_keys(row, lane_in_team(local), &keys);
  begin_any(local);
  begin_sums(local);
#if SIDE_BY_SIDE
  let lanes = 1u;
  workgroupBarrier();
#else
  let lanes = lanes_of(local);
#endif
  let range = range_of_keys(row, local, lanes, &keys);
  let home = sequence * params.sink_step + params.first_rank;
  // A NaN at the last rank takes the place of all.
  let taken = params.propagates == 1u && is_nan(range.greatest);
  let ranks = params.ranks - params.propagates;
  var at = Interval();
  for (var n = select(ranks, params.ranks, goes_on(local, taken)); n > 0u; n--) {
    let rank = rank_of(min(sequence, params.sequences - 1u), n - 1u) - 1u;
    if (goes_on(local, rank < at.before || rank >= at.behind)) {
      at = find_interval(row, local, lanes, &keys, range, rank);
      list_interval(row, local, &keys, at);
    }
    if (are_alike(at) && lane_in_team(local) == 0u) {
      own_pairs[0] = Pair(at.key, 0u);
      own_ranks[0] = rank;
    }
#for e in EACH
    if (own_ranks[$e] == rank && sequence < params.sequences) {
      let pair = Pair(own_pairs[$e].key, index_at(row, own_pairs[$e].index));
      if (taken) {
        for (var other = 0u; other < select(0u, ranks, n > ranks); other++) { put_pair(home + other, pair); }
      } else if (n <= ranks) {
        put_pair(home + n - 1u, pair);
      }
    }
#endfor
  }
}
