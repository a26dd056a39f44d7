// Pairs of rows to outputs down columns: source -> sink.
//
// A workgroup takes a tile through its memory: TILE_RANKS ranks of up to TILE_COLUMNS sequences
// side by side. Neighbours read along the ranks, and write along the columns.
//   TILE_RANKS  a power of two
//   EACH        pairs of an invocation
#import io/source
#import io/put_ranks

const TILE_COLUMNS: u32 = EACH * WORKGROUP / TILE_RANKS;

// Odd, so that pairs of one rank lie in different banks.
const PITCH: u32 = TILE_RANKS + 1u;

var<workgroup> tile_keys: array<Key, TILE_COLUMNS * PITCH>;     // [sequence][rank]
var<workgroup> tile_indices: array<u32, TILE_COLUMNS * PITCH>;

fn ranked(slot: u32, rank: u32) -> Pair {
  let at = slot * PITCH + rank % TILE_RANKS;
  return Pair(tile_keys[at], tile_indices[at]);
}

fn run(workgroup: u32, local: u32) {
  let columns = params.batch[0].x;
  let across = (columns + TILE_COLUMNS - 1u) / TILE_COLUMNS;
  let column = workgroup % across * TILE_COLUMNS;
  let first = workgroup / across % params.tiles * TILE_RANKS;
  let sequence = workgroup / across / params.tiles * columns + column;
  if (sequence >= params.sequences) { return; }
  let count = min(TILE_COLUMNS, columns - column);
#for u in EACH
  let slot$u = ($uu * WORKGROUP + local) / TILE_RANKS;
  let rank$u = ($uu * WORKGROUP + local) % TILE_RANKS;
  let pair$u = load(row_of(min(sequence + slot$u, params.sequences - 1u)), min(first + rank$u, params.length - 1u) + params.first_rank);
#endfor
#for u in EACH
  tile_keys[slot$u * PITCH + rank$u] = pair$u.key;
  tile_indices[slot$u * PITCH + rank$u] = pair$u.index;
#endfor
  workgroupBarrier();
  put_some_ranks(sequence, count, first, min(first + TILE_RANKS, params.length), local);
}
