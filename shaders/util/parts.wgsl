// Which spans are long, and the parts of one size that they are cut in: spans -> part_table.
//
// Parts have places from 0 on, while there is room. A span that comes later is one part, with a
// place of its own behind them. In what order spans come does not matter: each part keeps apart
// what it finds. The counts (lib/io/part_table.wgsl) are zeros before.
//   params.longest  items of a short span; 0 where all are long
//   params.tile     items of a part
//   params.tiles    room for parts
#import io/params
#import io/span_table

@group(0) @binding(9) var<storage, read_write> part_table: array<atomic<u32>>;

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup * WORKGROUP + local;
  if (sequence >= params.sequences) { return; }
  let items = spans[sequence].y;
  if (params.longest > 0u && items <= params.longest) { return; }
  let wanted = (max(items, 1u) - 1u) / params.tile + 1u;
  var first = atomicAdd(&part_table[0], wanted);
  var parts = min(wanted, params.tiles - min(first, params.tiles));
  if (parts == 0u) {
    first = params.tiles + atomicAdd(&part_table[1], 1u);
    parts = 1u;
  }
  let number = atomicAdd(&part_table[2], 1u);
  atomicStore(&part_table[4u + 4u * number], sequence);
  atomicStore(&part_table[5u + 4u * number], first);
  atomicStore(&part_table[6u + 4u * number], parts);
  for (var part = 0u; part < parts; part++) { atomicStore(&part_table[4u + 4u * params.sequences + first + part], number); }
}
