// Pieces of a sequence between two pairs: how many come before, and the pairs themselves -> list.
//   AGAIN  loads under way at once, of up to 32 items
#import thread/near_loads
#import workgroup/list

// What comes behind `low`, or at all where the part is the first, up to `high`.
struct Piece { low: Stored, high: Stored }

// How many pairs precede a piece, and how many it has.
struct Counts { earlier: u32, count: u32 }

var<workgroup> listed: atomic<u32>;
var<workgroup> preceding: atomic<u32>;
var<workgroup> shared_piece: Piece;
var<workgroup> shared_numbers: Counts;

fn nth_load(n: u32) -> u32 { return n; }

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
    for (var near = found.y; near != 0u && at < PLACES; near &= near - 1u) {
      list[at] = held_of(near_pair(row, place_of_first(near)));
      at++;
    }
  }
  if (earlier > 0u) { atomicAdd(&preceding, earlier); }
  workgroupBarrier();
  if (local == 0u) { shared_numbers = Counts(atomicLoad(&preceding), atomicLoad(&listed)); }
  return workgroupUniformLoad(&shared_numbers);
}

// The end of a piece with fewer pairs than one of `count`, for which the list had no room. Those
// that came in first stand for all: so many of them that half of the list may be full, but of the
// first ranks, as further ones are in no order.
fn end_of_fewer(count: u32, ranks: u32) -> Stored {
  let rank = clamp(PLACES / 2u * PLACES / count, PLACES / 16u, PLACES / 2u);
  return store_of(pair_held(list[min(rank, ranks - 1u)]));
}

// What follows a piece that was put, up to `end`, or the beginning of one that has too many pairs.
fn piece_after(piece: Piece, end: Stored, put: bool, count: u32, ranks: u32) -> Piece {
  if (put) { return Piece(piece.high, end); }
  return Piece(piece.low, end_of_fewer(count, ranks));
}
