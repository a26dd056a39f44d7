// The first k pairs of every short span, in order, for a small k: input -> sink. One read.
//
// A workgroup serves params.neighbours sequences, but none of over params.longest items. Each gets
// as many invocations as hold its items in registers, so the work follows the items that there are.
// An item is a word, as in select/networks.wgsl. K groups of the items bound the first K keys. Only
// words up to the bound are listed, of random data 2.5 K. Each invocation merges its own into a
// list of KEEP = K + 1, and then the team merges its lists. Words like the last of the K are merged
// once more by the bits that were dropped. At the end whole keys order the others.
//   K      one of a few numbers from params.k on
//   LOADS  of an invocation; LOADS * PER_LOAD is a multiple of BATCH
#import thread/span_keys
#import io/sink
#import workgroup/word_lists
#import workgroup/team_sizes

var<workgroup> survivors: array<u32, WORKGROUP * LOADS * PER_LOAD>;  // A column each.
// By the team's first invocation: the least key; by how much an index exceeds its place; bits of a
// place; 0 where words hold whole keys, else 1 + first words in doubt.
var<workgroup> bases: array<u32, WORKGROUP>;
var<workgroup> firsts: array<u32, WORKGROUP>;
var<workgroup> place_bits: array<u32, WORKGROUP>;
var<workgroup> loose: array<u32, WORKGROUP>;

// Lists an item where it counts. What does not is written over.
fn list_item(at: u32, packing: Packing, key: u32, place: u32, counts: bool) -> u32 {
  survivors[at] = (packed(packing, key) & ~packing.places) | place;
  return at + select(0u, WORKGROUP, counts);
}

// Lists the words of the keys up to a bound; returns how many.
fn list_survivors(part: Part, local: u32, keys: ptr<function, Keys>, packing: Packing, bound: u32) -> u32 {
  var at = local;
#for c in PER_LOAD
  let inside$c = is_inside(part, place_in(part, 0u, $cu));
  at = list_item(at, packing, (*keys)[$c], place_in(part, 0u, $cu), ((*keys)[$c] <= bound) & inside$c);
#endfor
#for l in LOADS
#if $l > 0
  if (is_whole(part, $lu)) {
#for c in PER_LOAD
    let key$c = (*keys)[$[l * PER_LOAD + c]];
    at = list_item(at, packing, key$c, place_in(part, $lu, $cu), key$c <= bound);
#endfor
  }
#endif
#endfor
  if (part.ends) {
#for c in PER_LOAD
    let key$c = (*keys)[$[LOADS * PER_LOAD + c]];
    let place$c = part.whole * PER_LOAD + $cu;
    at = list_item(at, packing, key$c, place$c, (key$c <= bound) & (place$c < part.end));
#endfor
  }
  return (at - local) / WORKGROUP;
}

fn merge_survivors(local: u32, count: u32, words: ptr<function, Words>) {
  for (var i = 0u; i < count; i += BATCH) {
    var batch: Batch;
#for j in BATCH
    batch[$j] = select(NO_WORD, survivors[(i + $ju) * WORKGROUP + local], i + $ju < count);
#endfor
    merge(words, &batch);
  }
}

// Merges the words like `last` but for their places, by the bits that were dropped.
fn merge_rest(part: Part, local: u32, packing: Packing, doubtful: bool, last: u32, rest: ptr<function, Words>) {
  let count = select(0u, part.listed, doubtful);
  for (var i = 0u; i < count; i += BATCH) {
    var batch: Batch;
#for j in BATCH
    batch[$j] = NO_WORD;
    if (i + $ju < count && alike(survivors[(i + $ju) * WORKGROUP + local], last, packing.places)) {
      let place = survivors[(i + $ju) * WORKGROUP + local] & packing.places;
      batch[$j] = ((packed(packing, key_there(part.row, place) >> UNUSED) & packing.places) << packing.bits) | place;
    }
#endfor
    merge(rest, &batch);
  }
}

fn word_listed(leader: u32, at: u32) -> u32 { return exchange[at * WORKGROUP + leader]; }

fn put_word(sequence: u32, leader: u32, at: u32) {
  let word = word_listed(leader, at);
  let place = word & ((1u << place_bits[leader]) - 1u);
  var rank = at;
  var pair = Pair((bases[leader] + (word >> place_bits[leader])) << UNUSED, firsts[leader] + place);
  if (word == NO_WORD) {
    // Beyond the span. A later dispatch may need pairs that are behind all others.
    pair = Pair(LAST_OF_ELEMENTS, index_at(row_of(sequence), at));
  } else if (loose[leader] > 0u) {
    let row = row_of(sequence);
    pair = pair_at(row, place - row.skew);
    let places = (1u << place_bits[leader]) - 1u;
    if (at + 1u < loose[leader]) { rank = rank_among_alike(row, pair, leader, at, loose[leader] - 1u, places); }
  }
  if (rank < params.k) { put_to(target_of(sequence), rank, pair); }
}

fn serve_turn(first: u32, local: u32, counts: Counts, turn: u32) {
  let begin = spot_of(counts, turn * WORKGROUP);  // Of the largest team.
  let end = min(spot_of(counts, (turn + 1u) * WORKGROUP).team, teams_in(counts));
  let spot = spot_of(counts, turn * WORKGROUP + local);
  workgroupBarrier();
  let live = spot.team < end;
  let sequence = first + select(0u, ordered[min(spot.team, WORKGROUP - 1u)], live);
  if (live && spot.lane == 0u) { leaders[spot.team - begin.team] = local; }
  var part = part_of(sequence, spot.size, spot.lane, live);
  var keys: Keys;
  read_keys(part, &keys);
  let range = range_of_team(local, spot.lane, range_of(&keys, spot.size));
  let packing = packing_of(range.x, range.y, 32u - countLeadingZeros(part.end));
  part.listed = list_survivors(part, local, &keys, packing, range.y);
  var words: Words;
#for i in KEEP
  words[$i] = NO_WORD;
#endfor
  merge_survivors(local, part.listed, &words);
  merge_team(&words, local, spot.size, begin.size);
  let settled = settle(part, local, begin.size, packing, words[K] != NO_WORD, &words);
  workgroupBarrier();
  bases[local] = packing.least;
  firsts[local] = part.row.span.first - part.row.skew;
  place_bits[local] = packing.bits;
  loose[local] = select(0u, settled + 1u, packing.lost > 0u);
#for i in K
  exchange[$[i]u * WORKGROUP + local] = words[$i];
#endfor
  workgroupBarrier();
  for (var e = local; e < (end - begin.team) * K; e += WORKGROUP) {
    let team = e / K;
    put_word(first + ordered[begin.team + team], leaders[team], e % K);
  }
}

fn run(workgroup: u32, local: u32) {
  let first = workgroup * params.neighbours;
  let sequence = min(first + local, params.sequences - 1u);
  let row = row_of(sequence);
  let wanted = local < params.neighbours && first + local < params.sequences && spans[sequence].y <= params.longest;
  let loads = (row.skew + real_items(row) + PER_LOAD - 1u) / PER_LOAD;
  let counts = count_teams(local, wanted, 32u - countLeadingZeros((max(loads, 1u) - 1u) / LOADS));
  let turns = turns_of(counts);
  begin_any(local);
  for (var turn = 0u; turn < turns; turn++) { serve_turn(first, local, counts, turn); }
}
