// Places ITEMS pairs at a time by counting those before, WORKGROUP / ITEMS invocations each. The
// kernel's `listed(start, at)` is the pair at a place of a list.
//   ITEMS  a divisor of WORKGROUP
#import order/pair
#import io/params
#import io/sink

const SLICES: u32 = WORKGROUP / ITEMS;

var<workgroup> tile_pairs: array<Stored, WORKGROUP>;
var<workgroup> places: array<atomic<u32>, ITEMS>;

// All invocations call it together, with the same block and length.
fn rank_block(local: u32, sequence: u32, start: u32, length: u32, block: u32) {
  let slice = local / ITEMS;
  var mine = last_pair();
  if (block * ITEMS + local % ITEMS < length) { mine = listed(start, block * ITEMS + local % ITEMS); }
  if (local < ITEMS) { atomicStore(&places[local], 0u); }
  var place = 0u;
  // A block past the list's end has nothing to rank.
  let end = select(0u, length, block * ITEMS < length);
  for (var tile = 0u; tile < end; tile += WORKGROUP) {
    workgroupBarrier();
    var other = last_pair();
    if (tile + local < length) { other = listed(start, tile + local); }
    tile_pairs[local] = store_of(other);
    workgroupBarrier();
    for (var j = slice; j < WORKGROUP; j += 4u * SLICES) {
#for u in 4
      let other$u = tile_pairs[j + $uu * SLICES];
#endfor
#for u in 4
      place += select(0u, 1u, before(pair_of(other$u), mine));
#endfor
    }
  }
  workgroupBarrier();
  atomicAdd(&places[local % ITEMS], place);
  workgroupBarrier();
  if (local < ITEMS && mine.index != NO_INDEX) {
    let rank = atomicLoad(&places[local]);
    if (rank < params.k) { put(sequence, rank, mine); }
  }
  workgroupBarrier();
}
