// Columns as rows: input -> rows, elements as they are, each row from a load's beginning.
//
// An invocation gathers a tile of a row: as many items as 32 bytes hold. Neighbours serve
// neighbouring columns, so that they read side by side, and each writes a whole sector of memory.
//   ITEMS_PER_THREAD  items of a tile
#import io/input
#if RAGGED
#import io/spans
#endif

const WORDS: u32 = 8u;  // of a tile

@group(0) @binding(6) var<storage, read_write> rows: array<vec4<u32>>;  // [sequence][tile][2]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let number = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let columns = params.batch[0].x;
  let line = number / columns;
  let sequence = line / params.tiles * columns + number % columns;
  if (sequence >= params.sequences) { return; }
  let tile = line % params.tiles;
#if RAGGED
  // What takes no part is never looked at.
  let span = span_of(sequence);
  if ((tile + 1u) * ITEMS_PER_THREAD <= span.shift || tile * ITEMS_PER_THREAD >= span.shift + span.real) { return; }
#endif
  let start = sequence_offsets(sequence).x;
#for i in ITEMS_PER_THREAD
  let element$i = element_at(start + min(tile * ITEMS_PER_THREAD + $iu, params.axes[0].x - 1u) * params.axes[0].y);
#endfor
  var words: array<u32, WORDS>;
#for i in ITEMS_PER_THREAD
#if ELEMENT_BYTES == 8
  words[$[2 * i]] = element$i.y;
  words[$[2 * i + 1]] = element$i.x;
#else
  words[$[i * ELEMENT_BYTES // 4]] |= element$i >> $[32 - 8 * ELEMENT_BYTES - 8 * (i * ELEMENT_BYTES % 4)]u;
#endif
#endfor
  let to = 2u * (sequence * params.tiles + tile);
  rows[to] = vec4<u32>(words[0], words[1], words[2], words[3]);
  rows[to + 1u] = vec4<u32>(words[4], words[5], words[6], words[7]);
}
