// An item of the input as a running top-k keeps it: its bits, and its id or its position.
//   IDS  what the caller's ids are: 0 none, positions go on; 1 uint32, 2 int32, 3 of 64 bits
#import io/running
#import io/input
#import order/pair
#if IDS
@group(0) @binding(9) var<storage, read_write> ids: array<u32>;  // as the values lie
#endif

// Of a pair; `row` is its sequence's. The key tells the bits, except of NaNs and zeros.
fn entry_of(sequence: u32, pair: Pair, row: u32) -> Entry {
  let offsets = sequence_offsets(sequence);
  let index = pair.index;
  var bits = bits_from(pair.key);
  if (!bits_are_known(pair.key, bits)) { bits = element_at(offsets.x + place_of(index).offset); }
#if IDS
  let at = offsets.y + index * params.value_step;
#if IDS == 3
  return Entry(bits, vec2<u32>(ids[2u * at], ids[2u * at + 1u]));
#else
  return Entry(bits, vec2<u32>(ids[at], select(0u, 0xffffffffu, IDS == 2u && ids[at] >= 0x80000000u)));
#endif
#else
  return Entry(bits, sum_of(vec2<u32>(state[row], state[row + 1u]), vec2<u32>(index, 0u)));
#endif
}
