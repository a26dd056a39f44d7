// The pairs that a running top-k keeps, as tensors: state -> values, indices.
//
// An invocation writes a word of values, of one or several elements, or the words of one element.
#import io/running

@group(0) @binding(4) var<storage, read_write> values: array<u32>;
@group(0) @binding(5) var<storage, read_write> indices: array<u32>;

const TOGETHER: u32 = max(4u / ELEMENT_BYTES, 1u);

fn run(workgroup: u32, local: u32) {
  let word = workgroup * WORKGROUP + local;
  if (word * TOGETHER >= params.length) { return; }
  var value = 0u;
  for (var i = 0u; i < TOGETHER && word * TOGETHER + i < params.length; i++) {
    let at = word * TOGETHER + i;
    let row = at / params.k * row_words();
    let index = id_kept(row, at % params.k);
    indices[at * params.index_words] = index.x;
    if (params.index_words > 1u) { indices[at * params.index_words + 1u] = index.y; }
    let bits = bits_kept(row, at % params.k);
#if KEY_WORDS == 1
    value |= bits >> (32u - 8u * ELEMENT_BYTES * (i + 1u));
#else
    values[2u * at] = bits.y;
    values[2u * at + 1u] = bits.x;
#endif
  }
#if KEY_WORDS == 1
  values[word] = value;
#endif
}
