// Sorts short lists by counting: the rank of a pair is the number of pairs before it: pairs (bindings 2, 3) -> sink (4, 5).
// Work grows with the square of the length, but nothing waits for anything: for a few thousand pairs it is the fastest way.
// A workgroup ranks ITEMS pairs, each by WORKGROUP / ITEMS invocations.
#import source
#import sink

const SLICES: u32 = WORKGROUP / ITEMS;

var<workgroup> tile_pairs: array<Stored, WORKGROUP>;
var<workgroup> places: array<atomic<u32>, ITEMS>;
var<workgroup> shared_length: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let blocks = (params.length + ITEMS - 1u) / ITEMS;
  let sequence = min(id / blocks, params.sequences - 1u);
  let live = id / blocks < params.sequences;
  let row = row_of(sequence);
  if (local == 0u) { shared_length = row.loads; }
  let length = workgroupUniformLoad(&shared_length);
  let at = (id % blocks) * ITEMS + local % ITEMS;
  let slice = local / ITEMS;
  var mine = last_pair();
  if (at < length) { mine = load(row, at); }
  if (local < ITEMS) { atomicStore(&places[local], 0u); }
  var place = 0u;
  // A block past the list's end has nothing to rank.
  let end = select(0u, length, (id % blocks) * ITEMS < length);
  for (var tile = 0u; tile < end; tile += WORKGROUP) {
    workgroupBarrier();
    var other = last_pair();
    if (tile + local < length) { other = load(row, tile + local); }
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
  atomicAdd(&places[local % ITEMS], place);
  workgroupBarrier();
  if (local < ITEMS && live && mine.index != NO_INDEX) {
    let rank = atomicLoad(&places[local]);
    if (rank < params.k) { put(sequence, rank, mine); }
  }
}
