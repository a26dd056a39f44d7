// Where results go: pairs for a later dispatch (SINK_PAIRS = 1), else the output tensors.
//   HAS_VALUES     1 where values are wanted. Indices are where params.index_words is not 0.
//   ELEMENT_BYTES  1, 2, 4 or 8: of a value
//   MANY_BOXES     1 where the bound window holds a part of the elements. Others are left alone.
//   RAGGED         1 where sequences have spans: ranks without an item get index -1 and a value
//   PAYLOAD        1 where something is written in place of an index (lib/io/payload.wgsl)
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
fn put_bits(word: u32, mask: u32, bits: u32) { atomicXor(&values[word], (atomicLoad(&values[word]) ^ bits) & mask); }

// Where an element's bits, left-aligned, lie in its word.
fn shift_in_word(offset: u32) -> u32 { return 8u * ELEMENT_BYTES * (offset % (4u / ELEMENT_BYTES)); }
fn bits_for_word(offset: u32, bits: u32) -> u32 { return (bits >> (32u - 8u * ELEMENT_BYTES)) << shift_in_word(offset); }
#endif

fn put_value(offset: u32, bits: Key) {
#if ELEMENT_BYTES == 8
  values[2u * offset] = bits.y;
  values[2u * offset + 1u] = bits.x;
#endif
#if ELEMENT_BYTES == 4
  values[offset] = bits;
#endif
#if 4 > ELEMENT_BYTES
  put_bits(offset / (4u / ELEMENT_BYTES), bits_for_word(offset, 0xffffffffu), bits_for_word(offset, bits));
#endif
}
#endif

@group(0) @binding(5) var<storage, read_write> indices: array<u32>;

fn put_index(offset: u32, index: vec2<u32>) {
  if (params.index_words > 0u) { indices[offset * params.index_words] = index.x; }
  if (params.index_words > 1u) { indices[offset * params.index_words + 1u] = index.y; }
}

struct Target { offsets: vec3<u32>, sequence: u32 }

fn target_of(sequence: u32) -> Target { return Target(sequence_offsets(sequence), sequence); }

#if RAGGED
#import io/span_table
#endif
#if PAYLOAD
#import io/payload
#else
fn payload_of(sequence: u32, index: u32) -> vec2<u32> { return vec2<u32>(index, 0u); }
#endif

// What a rank gets: the bits of its value and its index. Others have it where it is not `here`.
struct Result { here: bool, bits: Key, index: vec2<u32> }

// Of a pair. The key tells the value's bits, except of NaNs and zeros: those are read again.
fn result_of(to: Target, rank: u32, pair: Pair) -> Result {
  var index = pair.index ^ params.index_flip;
#if RAGGED
  let span = spans[to.sequence];
  if (index >= span.y || rank + params.earlier_ranks >= span.z) {
    return Result(true, key_from(vec2<u32>(params.nothing_high, params.nothing_low)), vec2<u32>(0xffffffffu));
  }
  index += span.x;
#endif
  var bits = pair.key;
#if HAS_VALUES
#if MANY_BOXES
  let place = place_of(index);
  if (!place.inside) { return Result(false, bits, vec2<u32>(0u, 0u)); }
#endif
  bits = bits_from(pair.key);
  if (!bits_are_known(pair.key, bits)) { bits = element_at(to.offsets.x + place_of(index).offset); }
#endif
  return Result(true, bits, payload_of(to.sequence, index));
}

// Writes the pair as rank `rank` of the sequence.
fn put_to(to: Target, rank: u32, pair: Pair) {
  let result = result_of(to, rank, pair);
  if (!result.here) { return; }
#if HAS_VALUES
  put_value(to.offsets.y + rank * params.value_step, result.bits);
#endif
  put_index(to.offsets.z + rank * params.index_step, result.index);
}

#endif

// Of the sequence so many further along the innermost dimension of the batch.
fn target_beside(start: Target, further: u32) -> Target {
#if SINK_PAIRS
  return start + further * params.sink_step;
#else
  return Target(start.offsets + further * params.batch[0].yzw, start.sequence + further);
#endif
}

// Sequences that lie along the innermost dimension, of which a batch of one may have none.
fn sequences_beside() -> u32 {
#if SINK_PAIRS
  return 0xffffffffu;
#else
  return max(params.batch[0].x, 1u);
#endif
}

// Whether neighbours in memory are ranks of different sequences.
fn ranks_lie_apart() -> bool {
#if SINK_PAIRS
  return params.sink_item_step > 1u;
#else
  return max(params.value_step, params.index_step) > 1u;
#endif
}

fn put(sequence: u32, rank: u32, pair: Pair) { put_to(target_of(sequence), rank, pair); }
