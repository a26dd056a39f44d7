// The input tensor's elements, read as words; bits are left-aligned for lib/order/key.wgsl.
//   ELEMENT_BYTES   1, 2, 4 or 8
//   INPUT_WORDS     4 or 2 where the buffer is bound as vectors of so many, else 1
//   INPUT_SHARED    1 where an output lies in the same buffer, which is then bound as writable
//   MANY_AXIS_DIMS  1 where the sequence has more than one dimension
#import order/key
#import io/params

#if INPUT_WORDS == 4
alias InputLoad = vec4<u32>;
fn input_word(word: u32) -> u32 { return input[word >> 2u][word & 3u]; }
#endif
#if INPUT_WORDS == 2
alias InputLoad = vec2<u32>;
fn input_word(word: u32) -> u32 { return input[word >> 1u][word & 1u]; }
#endif
#if INPUT_WORDS == 1
alias InputLoad = u32;
fn input_word(word: u32) -> u32 { return input[word]; }
#endif
#if INPUT_SHARED
@group(0) @binding(1) var<storage, read_write> input: array<InputLoad>;
#else
@group(0) @binding(1) var<storage, read> input: array<InputLoad>;
#endif

// The first word of an element, of which eight bytes have two, the low one first; and the bits of
// an element of up to four bytes in its word.
#if ELEMENT_BYTES == 8
fn word_of_element(element: u32) -> u32 { return 2u * element; }
#endif
#if ELEMENT_BYTES == 4
fn word_of_element(element: u32) -> u32 { return element; }
fn bits_in_word(word: u32, element: u32) -> u32 { return word; }
#endif
#if 4 > ELEMENT_BYTES
const PER_WORD: u32 = 4u / ELEMENT_BYTES;
const USED_BITS: u32 = ~(0xffffffffu >> (8u * ELEMENT_BYTES));  // the first ones

fn word_of_element(element: u32) -> u32 { return element >> firstTrailingBit(PER_WORD); }
fn bits_in_word(word: u32, element: u32) -> u32 {
  return (word << (8u * ELEMENT_BYTES * (PER_WORD - 1u - (element & (PER_WORD - 1u))))) & USED_BITS;
}
#endif

// The bits of the element at an element offset of the bound window.
fn element_at(offset: u32) -> Key {
  let word = word_of_element(offset);
#if KEY_WORDS == 1
  return bits_in_word(input_word(word), offset);
#else
  return Key(input_word(word + 1u), input_word(word));
#endif
}

// The place of a flattened index's element, from its sequence's first one in the window, and
// whether this dispatch's piece of the tensor holds it.
struct Place { offset: u32, inside: bool }

fn place_of(index: u32) -> Place {
#if !MANY_AXIS_DIMS
  let local = index - params.first_index;
  return Place(local * params.axes[0].y, local < params.axes[0].x);
#else
  var place = Place(0u, true);
  for (var d = 0u; d < params.axis_dims; d++) {
    let dim = params.axes[d];
    let local = (index / dim.z) % dim.w - (params.first_index / dim.z) % dim.w;
    place.offset += local * dim.y;
    place.inside = place.inside & (local < dim.x);
  }
  return place;
#endif
}

// Element offset (x) and step of the flattened index (y) of a position in this dispatch's piece.
fn axis_step(position: u32) -> vec2<u32> {
#if !MANY_AXIS_DIMS
  return vec2<u32>(position * params.axes[0].y, position);
#else
  var step = vec2<u32>(0u);
  var rest = position;
  for (var d = 0u; d < params.axis_dims; d++) {
    let dim = params.axes[d];
    let next = rest / dim.x;
    step += (rest - next * dim.x) * dim.yz;
    rest = next;
  }
  return step;
#endif
}
