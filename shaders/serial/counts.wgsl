// A level of a search for the k-th key: counts the items of each tile up to each of some bounds.
// source, pivots, totals -> tile_counts, totals
#import io/bounds
#import io/source

#if KEY_WORDS == 1
fn comparable(key: Key) -> i32 { return bitcast<i32>(key ^ 0x80000000u); }
fn up_to(bound: i32, own: i32) -> bool { return own <= bound; }
#else
fn comparable(key: Key) -> Key { return key; }
fn up_to(bound: Key, own: Key) -> bool { return !key_less(bound, own); }
#endif

// What loads and stores is compiled once, in loops.
var<private> bounds: array<Bound, BOUNDS>;
var<private> counts: array<u32, BOUNDS>;

fn run(workgroup: u32, local: u32) {
  let tile = tile_of(workgroup * WORKGROUP + local);
  if (!tile.live) { return; }
  let sequence = tile.sequence;
  let state = state_entering(params.level, sequence);
  if (tile.number == 0u) { put_state(params.level, sequence, state); }
  if (state.settled > 0u) { return; }
  let row = row_of(sequence);
  for (var i = 0u; i < BOUNDS; i++) { bounds[i] = bound_of(state, params.level, sequence, i); }
#for i in BOUNDS
  let last$i = comparable(bounds[$i].key);
  var count$i = 0u;
#endfor
  for (var v = tile.first; v < end_of_tile(tile, row.loads); v++) {
    let data = load(row, v);
#for c in PER_LOAD
    {
      let pair = item(row, v, data, $cu);
      let own = comparable(pair.key);
      let one = select(1u, 0u, pair.index == NO_INDEX);
#for i in BOUNDS
      count$i += select(0u, one, up_to(last$i, own));
#endfor
    }
#endfor
  }
#for i in BOUNDS
  counts[$i] = count$i;
#endfor
  for (var i = 0u; i < BOUNDS; i++) {
    let own = select(counts[i], 0u, bounds[i].none);
    tile_counts[count_at(sequence, i, tile.number)] = own;
    atomicAdd(&totals[total_at(params.level, sequence, i)], own);
  }
}
