// The first k pairs of every short row, in order: input -> sink. One read and a little.
//
// A team of t = params.team invocations, a power of two from 4 on, serves a row: LOADS loads each,
// whose least keys it keeps. The k-th of the t invocations' bests is a threshold, which the first k
// pairs are up to. About t ln(t / (t - k)) pairs are up to it; they are listed, and placed by
// counting. A list that would overflow gives a nearer threshold, its own k-th, and is made again.
// k is at most t. Each invocation has a load.
// (benchmarks/LOG.md#threshold-by-a-small-team-2026-11-21-be5ecae)
//   LOADS        no fewer than an invocation has, at most 32; they are under way at once
//   PLACES_EACH  of a list for each invocation, more than 1
#import io/least
#import io/sink
#import workgroup/any

const TEAMS: u32 = WORKGROUP / 4u;  // at most

alias Leasts = array<Key, LOADS>;  // The least key of each load.

var<workgroup> lists: array<Stored, WORKGROUP * PLACES_EACH>;
var<workgroup> counts: array<atomic<u32>, TEAMS>;
var<workgroup> thresholds: array<Stored, TEAMS>;

fn capacity() -> u32 { return params.team * PLACES_EACH; }

fn read_leasts(row: Row, lane: u32, leasts: ptr<function, Leasts>) {
  let last = row.loads - 1u;
#for l in LOADS
  let v$l = $lu * params.team + lane;
  let data$l = load(row, min(v$l, last));
#endfor
#if RAGGED
#for l in LOADS
  (*leasts)[$l] = least_inside(row, v$l, data$l);
#endfor
#else
  // Only the first and the last load may have items of other rows.
  (*leasts)[0] = least_inside(row, v0, data0);
#if LOADS > 1
  let least_last = least_inside(row, last, load(row, last));
  let end = end_whole(row);
#for l in LOADS
#if $l > 0
  (*leasts)[$l] = select(select(LAST_KEY, least_last, v$l == last), least_in(data$l), v$l < end);
#endif
#endfor
#endif
#endif
}

// Not the best pair itself, but one that no other load's items come between.
fn delegate_of_leasts(row: Row, lane: u32, leasts: ptr<function, Leasts>) -> Pair {
  var best = (*leasts)[0];
  var place = 0u;
#for l in LOADS
  {
    let wins = key_less((*leasts)[$l], best);
    best = select(best, (*leasts)[$l], wins);
    place = select(place, $lu, wins);
  }
#endfor
  return Pair(best, last_index_in(row, place * params.team + lane));
}

fn rank_in(list: u32, count: u32, pair: Pair) -> u32 {
  var rank = 0u;
  for (var i = 0u; i < count; i += 8u) {
#for u in 8
    let other$u = pair_of(lists[list + i + $uu]);
#endfor
#for u in 8
    rank += select(0u, 1u, (i + $uu < count) & before(other$u, pair));
#endfor
  }
  return rank;
}

// The k-th pair of each team's list, which is empty then. All invocations call it together.
fn kth_of_lists(slot: u32, lane: u32) -> Pair {
  let list = slot * capacity();
  let listed = min(atomicLoad(&counts[slot]), capacity());
  for (var i = lane; i < listed; i += params.team) {
    let mine = pair_of(lists[list + i]);
    if (rank_in(list, listed, mine) == params.k - 1u) { thresholds[slot] = store_of(mine); }
  }
  workgroupBarrier();
  if (lane == 0u) { atomicStore(&counts[slot], 0u); }
  let threshold = pair_of(thresholds[slot]);
  workgroupBarrier();
  return threshold;
}

// The loads that may hold a pair that does not come after the threshold: bits.
fn loads_before(row: Row, lane: u32, leasts: ptr<function, Leasts>, threshold: Pair) -> u32 {
  var hits = 0u;
#for l in LOADS
  hits |= select(0u, $[1 << l]u, !key_less(threshold.key, (*leasts)[$l]));
#endfor
  // Of many, leave out those that only have the threshold's own key, beyond its place.
  if (countOneBits(hits) > 2u) {
    var ties = 0u;
#for l in LOADS
    ties |= select(0u, $[1 << l]u, key_equal(threshold.key, (*leasts)[$l]));
#endfor
    let last = load_of(row, threshold.index);
    hits &= ~ties | select(0u, (2u << min((last - lane) >> firstTrailingBit(params.team), 31u)) - 1u, last >= lane);
  }
  return hits;
}

// Lists what of a load does not come after the threshold. Whether the list is too short for it.
fn append_load(row: Row, slot: u32, v: u32, threshold: Pair) -> bool {
  let data = load(row, v);
  var passing = 0u;
#for c in PER_LOAD
  let pair$c = item(row, v, data, $cu);
  let passes$c = !before(threshold, pair$c);
  passing += select(0u, 1u, passes$c);
#endfor
  var at = atomicAdd(&counts[slot], passing);
#for c in PER_LOAD
  if (passes$c) {
    if (at < capacity()) { lists[slot * capacity() + at] = store_of(pair$c); }
    at++;
  }
#endfor
  return at > capacity();
}

fn put_list(slot: u32, lane: u32, sequence: u32) {
  if (sequence >= params.sequences) { return; }
  let list = slot * capacity();
  let listed = atomicLoad(&counts[slot]);
  let to = target_of(sequence);
  for (var i = lane; i < listed; i += params.team) {
    let mine = pair_of(lists[list + i]);
    let rank = rank_in(list, listed, mine);
    if (rank < params.k) { put_to(to, rank, mine); }
  }
}

fn run(workgroup: u32, local: u32) {
  let shift = firstTrailingBit(params.team);  // in place of divisions
  let slot = local >> shift;
  let lane = local & (params.team - 1u);
  let sequence = workgroup * (WORKGROUP >> shift) + slot;
  let row = row_of(min(sequence, params.sequences - 1u));
  var leasts: Leasts;
  read_leasts(row, lane, &leasts);
  if (lane == 0u) { atomicStore(&counts[slot], params.team); }
  begin_any(local);
  lists[slot * capacity() + lane] = store_of(delegate_of_leasts(row, lane, &leasts));
  workgroupBarrier();
  loop {
    let threshold = kth_of_lists(slot, lane);
    var overflows = false;
    for (var hits = loads_before(row, lane, &leasts, threshold); hits != 0u; hits &= hits - 1u) {
      let v = countTrailingZeros(hits) * params.team + lane;
      if (v < row.loads) { overflows |= append_load(row, slot, v, threshold); }
    }
    if (!any_of_all(local, overflows)) { break; }
  }
  put_list(slot, lane, sequence);
}
