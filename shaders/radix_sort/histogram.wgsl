// Radix sort, step 1 of 3: counts each digit in each group of tiles, and in its earlier tiles.
// A workgroup counts a group, TILES_AT_ONCE tiles at a time: source -> groups, counts.
//   ITEMS_PER_THREAD  items of a tile that an invocation reads
//   MAX_GROUP         tiles of the largest group
#import io/digits
#import io/tile_counts

const TILE: u32 = ITEMS_PER_THREAD * WORKGROUP;

var<workgroup> bins: array<atomic<u32>, MAX_GROUP * BINS>;  // [tile][digit]

// Counts `count` items from `first` on. Positions start there: one more tile might pass 2^32.
fn count_items(sequence: u32, row: Row, first: u32, count: u32, local: u32) {
  for (var tile = 0u; tile < params.group; tile += TILES_AT_ONCE) {
    // All loads are under way before the first is used.
#for t in TILES_AT_ONCE
    let start$t = (tile + $tu) * TILE + local;
#for i in ITEMS_PER_THREAD
    let digit$[t]x$i = digit_at(sequence, row, first + min(start$t + $iu * WORKGROUP, count - 1u));
#endfor
#endfor
#for t in TILES_AT_ONCE
#for i in ITEMS_PER_THREAD
    if (start$t + $iu * WORKGROUP < count) { atomicAdd(&bins[(tile + $tu) * BINS + digit$[t]x$i], 1u); }
#endfor
#endfor
  }
}

// Counts of the group's first tiles, tile by tile, and of all of it.
fn put_sums(sequence: u32, group: u32, local: u32) {
  for (var b = local; b < BINS; b += WORKGROUP) {
    var sum = 0u;
    for (var t = 0u; t < params.group; t++) {
      if (params.group > 1u) { counts[count_at(sequence, group * params.group + t, b)] = sum; }
      sum += atomicLoad(&bins[t * BINS + b]);
    }
    groups[group_at(sequence, params.first_tile / params.group + group, b)] = sum;
  }
}

fn run(workgroup: u32, local: u32) {
  let own_groups = (params.tiles + params.group - 1u) / params.group;
  if (workgroup / own_groups >= params.sequences) { return; }
  let sequence = workgroup / own_groups;
  let group = workgroup % own_groups;
  let first = group * params.group * TILE;
  for (var b = local; b < params.group * BINS; b += WORKGROUP) { atomicStore(&bins[b], 0u); }
  workgroupBarrier();
  count_items(sequence, row_of(sequence), first, min(params.group * TILE, params.length - first), local);
  workgroupBarrier();
  put_sums(sequence, group, local);
}
