// Lists the items of each sequence that a search has settled on, in order of index.
// source, pivots, totals, tile_counts -> sink, list_counts
#import io/bounds
#import io/sink
#import io/source

@group(0) @binding(6) var<storage, read_write> list_counts: array<u32>;  // [sequence]

fn run(workgroup: u32, local: u32) {
  let tile = tile_of(workgroup * WORKGROUP + local);
  if (!tile.live) { return; }
  let sequence = tile.sequence;
  let state = state_entering(params.level, sequence);
  let level = (state.settled >> 8u) & 0xffu;
  let number = state.settled & 0xffu;
  let tied = (state.settled & TIED) > 0u;
  let lower = max(number, 1u) - 1u;
  let bound = bound_of(state, level, sequence, number);
  let low = bound_of(state, level, sequence, lower);
  let surely = select(0u, atomicLoad(&totals[total_at(level, sequence, lower)]), tied);
  let ties_wanted = select(0xffffffffu, params.k - surely, tied);
  if (tile.number == 0u) {
    list_counts[sequence] = select(atomicLoad(&totals[total_at(level, sequence, number)]), params.k, tied);
  }
  // Of earlier tiles.
  var place = 0u;
  var ties = 0u;
  for (var t = 0u; t < tile.number; t++) {
    let all = tile_counts[count_at(sequence, number, t)];
    let sure = select(all, tile_counts[count_at(sequence, lower, t)], tied);
    place += sure;
    ties += all - sure;
  }
  place += min(ties, ties_wanted);
  let row = row_of(sequence);
  let to = target_of(sequence);
  for (var v = tile.first; v < end_of_tile(tile, row.loads); v++) {
    let data = load(row, v);
    var passing = 0u;  // a bit an item
#for c in PER_LOAD
    {
      let pair = item(row, v, data, $cu);
      let inside = !key_less(bound.key, pair.key) & (pair.index != NO_INDEX);
      let tie = inside & tied & (low.none | key_less(low.key, pair.key));
      passing |= select(0u, 1u << $cu, inside & (!tie | (ties < ties_wanted)));
      ties += select(0u, 1u, tie);
    }
#endfor
    // A loop, not a branch: such a machine runs what stands in a branch, taken or not.
    for (; passing > 0u; passing &= passing - 1u) {
      put_to(to, place, item(row, v, data, firstTrailingBit(passing)));
      place++;
    }
  }
}
