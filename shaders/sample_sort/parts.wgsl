// The first k of each sequence, in order, by a sample sort: source -> sink.
//
// params.parts workgroups serve a sequence. All of them order the same sample, whose splitters cut
// the sequence into parts of about one size (Frazer and McKellar, "Samplesort: A Sampling Approach
// to Minimal Storage Tree Sorting", Journal of the ACM 17(3), 1970). Each reads the whole sequence,
// counts what precedes its part, and lists and sorts what is in it. A part that outgrows its list
// is taken in pieces.
//   SAMPLED  pairs of the sample for each part
//   PLACES   of the list, as many as the sample has and more
//   AGAIN    loads under way at once, of up to 32 items
#import io/source
#import io/sink
#import io/pair_at
#import thread/near_loads
#import workgroup/same
#import workgroup/sort_list
#import io/put_ranks

// What comes behind `low`, or at all where the part is the first, up to `high`.
struct Piece { low: Stored, high: Stored }

// How many pairs precede a piece, and how many it has.
struct Counts { earlier: u32, count: u32 }

var<workgroup> listed: atomic<u32>;
var<workgroup> preceding: atomic<u32>;
var<workgroup> shared_piece: Piece;
var<workgroup> shared_numbers: Counts;
var<private> first_rank: u32;

fn ranked(slot: u32, rank: u32) -> Pair { return pair_held(list[rank - first_rank]); }

fn nth_load(n: u32) -> u32 { return n; }

// A pair from each stretch of the sequence: not the same place, as sequences have patterns.
fn list_sample(row: Row, local: u32, length: u32, sample: u32) {
  let stretch = length / sample;  // at least one item; the last ones may be in none
  for (var i = local; i < sample; i += WORKGROUP) {
    let at = i * stretch + ((i * 0x9e3779b1u) >> 16u) % stretch;
    list[i] = held_of(pair_within(row, at));
  }
}

// The items of AGAIN loads that precede a piece, and those in it: a bit for each.
fn look(row: Row, n: u32, low: Limit, high: Limit, any_low: bool) -> vec2<u32> {
#for u in AGAIN
  looked_at[$u] = n + $uu * WORKGROUP;
  let data$u = load(row, min(looked_at[$u], row.loads - 1u));
#endfor
  var earlier = 0u;
  var near = 0u;
  var doubtful = 0u;  // those whose pairs must be looked at
#for u in AGAIN
  if (looked_at[$u] < high.loads) {
    let tell$u = keys_tell(row, looked_at[$u], low) & keys_tell(row, looked_at[$u], high);
    let before$u = near_by_keys(looked_at[$u], data$u, low, tell$u);
    let near$u = near_by_keys(looked_at[$u], data$u, high, tell$u);
    earlier |= select(0u, before$u << $[u * PER_LOAD]u, any_low & (looked_at[$u] < low.loads));
    near |= near$u << $[u * PER_LOAD]u;
    doubtful |= select(near$u << $[u * PER_LOAD]u, 0u, tell$u);
  }
#endfor
  // One copy of this serves all loads: so there is less to compile.
  for (; doubtful != 0u; doubtful &= doubtful - 1u) {
    let bit = firstTrailingBit(doubtful);
    let v = load_looked_at(bit / PER_LOAD);
    let pair = item(row, v, load(row, v), bit % PER_LOAD);
    near &= ~select(1u << bit, 0u, passes(high.threshold, pair));
    earlier &= ~select(1u << bit, 0u, passes(low.threshold, pair));
  }
  return vec2<u32>(earlier, near & ~earlier);
}

// Lists what is in a piece, as far as there is room. Returns the counts. All call it together.
fn list_piece(row: Row, local: u32, piece: Piece, any_low: bool) -> Counts {
  if (local == 0u) {
    atomicStore(&listed, 0u);
    atomicStore(&preceding, 0u);
  }
  workgroupBarrier();
  let low = limit_of(row, pair_of(piece.low));
  let high = limit_of(row, pair_of(piece.high));
  var earlier = 0u;
  for (var v = local; v < high.loads; v += AGAIN * WORKGROUP) {
    let found = look(row, v, low, high, any_low);
    earlier += countOneBits(found.x);
    if (found.y == 0u) { continue; }
    var at = atomicAdd(&listed, countOneBits(found.y));
    for (var near = found.y; near != 0u; near &= near - 1u) {
      if (at < PLACES) { list[at] = held_of(near_pair(row, place_of_first(near))); }
      at++;
    }
  }
  if (earlier > 0u) { atomicAdd(&preceding, earlier); }
  workgroupBarrier();
  if (local == 0u) { shared_numbers = Counts(atomicLoad(&preceding), atomicLoad(&listed)); }
  return workgroupUniformLoad(&shared_numbers);
}

// What a workgroup looks at next, by its sorted list: at first that is the sample.
fn next_piece(turn: u32, part: u32, piece: Piece, end: Stored, put: bool) -> Piece {
  if (put) { return Piece(piece.high, end); }
  // Of those that came in first the middle one ends a piece that has fewer.
  if (turn > 0u) { return Piece(piece.low, store_of(pair_held(list[PLACES / 2u]))); }
  let low = store_of(pair_held(list[max(part * SAMPLED, 1u) - 1u]));
  if (part + 1u == params.parts) { return Piece(low, end); }
  return Piece(low, store_of(pair_held(list[(part + 1u) * SAMPLED - 1u])));
}

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  var numbers = Counts(0u, SAMPLED * params.parts);
  list_sample(row, local, same_for_all(local, items_of(row)), numbers.count);
  var piece: Piece;
  var end = store_of(last_pair());
  var any_low = part > 0u;
  for (var turn = 0u; ; turn++) {
    kth_clear(local);
    workgroupBarrier();
    // One copy of this serves the sample and all pieces: so there is less to compile.
    sort_list(local, min(numbers.count, PLACES));
    let put = turn > 0u && numbers.count <= PLACES;
    if (put) {
      first_rank = numbers.earlier;
      put_some_ranks(sequence, 1u, first_rank, min(params.k, first_rank + numbers.count), local);
      if (all(piece.high == end)) { break; }
      any_low = true;
    }
    if (local == 0u) { shared_piece = next_piece(turn, part, piece, end, put); }
    piece = workgroupUniformLoad(&shared_piece);
    if (turn == 0u) { end = piece.high; }
    numbers = list_piece(row, local, piece, any_low);
    if (numbers.earlier >= params.k) { break; }
  }
}
