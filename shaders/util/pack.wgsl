// Items of sequences of any layout as rows: input -> rows, each from a load's beginning.
//
// An invocation writes a vector. Neighbours read along the last axis.
//   ITEMS  elements of a vector
#import io/input

@group(0) @binding(6) var<storage, read_write> rows: array<vec4<u32>>;  // [sequence][vector]

// Element bits are left-aligned.
fn with_element(words: vec4<u32>, c: u32, bits: Key) -> vec4<u32> {
  var found = words;
#if ELEMENT_BYTES == 8
  found[2u * c] = bits.y;
  found[2u * c + 1u] = bits.x;
#else
  found[c * ELEMENT_BYTES / 4u] |= (bits >> (32u - 8u * ELEMENT_BYTES)) << (8u * (c * ELEMENT_BYTES % 4u));
#endif
  return found;
}

fn run(workgroup: u32, local: u32) {
  let at = workgroup * WORKGROUP + local;
  let vectors = (params.length * ELEMENT_BYTES + 31u) / 32u * 2u;  // of a row
  if (at / vectors >= params.sequences) { return; }
  let first = at % vectors * ITEMS;
  let start = sequence_offsets(at / vectors).x;
  var words: vec4<u32>;
#for c in ITEMS
  let bits$c = element_at(start + axis_step(min(first + $cu, params.length - 1u)).x);
#endfor
#for c in ITEMS
  words = with_element(words, $cu, bits$c);
#endfor
  rows[at] = words;
}
