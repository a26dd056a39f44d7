// Where results go: pairs for a later dispatch (SINK_PAIRS = 1), else the output tensors.
//   HAS_VALUES     1 where values are wanted. Indices are where params.index_words is not 0.
//   ELEMENT_BYTES  1, 2, 4 or 8: of a value
//   MANY_BOXES     1 where the bound window holds a part of the elements. Others are left alone.
#import order/pair
#import io/params

#if SINK_PAIRS

@group(0) @binding(4) var<storage, read_write> sink_keys: array<Key>;
@group(0) @binding(5) var<storage, read_write> sink_indices: array<u32>;

alias Target = u32;

fn target_of(sequence: u32) -> Target { return params.sink_base + sequence * params.sink_step; }

fn put_to(start: Target, rank: u32, pair: Pair) {
  let at = start + rank * params.sink_item_step;
  sink_keys[at] = pair.key;
  sink_indices[at] = pair.index;
}

#else

#if HAS_VALUES
#import io/input
#if ELEMENT_BYTES > 2
@group(0) @binding(4) var<storage, read_write> values: array<u32>;
#else
@group(0) @binding(4) var<storage, read_write> values: array<atomic<u32>>;

// Several elements share a word. Each is owned by one invocation, which flips its bits alone.
fn put_bits(word: u32, shift: u32, mask: u32, bits: u32) {
  let old = atomicLoad(&values[word]);
  atomicXor(&values[word], (((old >> shift) ^ bits) & mask) << shift);
}
#endif

fn put_value(offset: u32, bits: Key) {
#if ELEMENT_BYTES == 8
  values[2u * offset] = bits.y;
  values[2u * offset + 1u] = bits.x;
#endif
#if ELEMENT_BYTES == 4
  values[offset] = bits;
#endif
#if ELEMENT_BYTES == 2
  put_bits(offset >> 1u, 16u * (offset & 1u), 0xffffu, bits >> 16u);
#endif
#if ELEMENT_BYTES == 1
  put_bits(offset >> 2u, 8u * (offset & 3u), 0xffu, bits >> 24u);
#endif
}
#endif

@group(0) @binding(5) var<storage, read_write> indices: array<u32>;

fn put_index(offset: u32, index: u32) {
  if (params.index_words > 0u) { indices[offset * params.index_words] = index; }
  if (params.index_words > 1u) { indices[offset * params.index_words + 1u] = 0u; }
}

alias Target = vec3<u32>;

fn target_of(sequence: u32) -> Target { return sequence_offsets(sequence); }

// Writes the pair as rank `rank` of the sequence. The key tells the value's bits, except of NaNs
// and zeros: those are read again from the input.
fn put_to(offsets: Target, rank: u32, pair: Pair) {
  let index = pair.index ^ INDEX_FLIP;
#if HAS_VALUES
#if MANY_BOXES
  let place = place_of(index);
  if (!place.inside) { return; }
#endif
  var bits = bits_from(pair.key);
  if (!bits_are_known(pair.key, bits)) { bits = element_at(offsets.x + place_of(index).offset); }
  put_value(offsets.y + rank * params.value_step, bits);
#endif
  put_index(offsets.z + rank * params.index_step, index);
}

#endif

// Of the sequence so many further along the innermost dimension of the batch.
fn target_beside(start: Target, further: u32) -> Target {
#if SINK_PAIRS
  return start + further * params.sink_step;
#else
  return start + further * params.batch[0].yzw;
#endif
}

fn put(sequence: u32, rank: u32, pair: Pair) { put_to(target_of(sequence), rank, pair); }
