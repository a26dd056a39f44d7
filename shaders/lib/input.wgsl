// The input tensor's elements, read from binding 1 as words; left-aligned bits as lib/key.wgsl wants them.
//   ELEMENT_BYTES  1, 2, 4 or 8
//   INPUT_WORDS    4 or 2 where the buffer is bound as vectors of so many, else 1
//   INPUT_SHARED   1 where an output lies in the same buffer: a pass may not bind one buffer both writable and read-only
//   AXIS_DIMS      dimensions of the axis selected over, after merging
#import key
#import params

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

// The bits of the element at an element offset of the bound window.
fn element_at(offset: u32) -> Key {
#if ELEMENT_BYTES == 8
  return Key(input_word(2u * offset + 1u), input_word(2u * offset));
#endif
#if ELEMENT_BYTES == 4
  return input_word(offset);
#endif
#if ELEMENT_BYTES == 2
  return (input_word(offset >> 1u) << (16u * (1u - (offset & 1u)))) & 0xffff0000u;
#endif
#if ELEMENT_BYTES == 1
  return (input_word(offset >> 2u) << (24u - 8u * (offset & 3u))) & 0xff000000u;
#endif
}

// Where, relative to its sequence's first element in the window, the element of a flattened index lies, and whether this
// dispatch's piece of the tensor holds it.
struct Place { offset: u32, inside: bool }

fn place_of(index: u32) -> Place {
#if AXIS_DIMS == 1
  let local = index - params.first_index;
  return Place(local * params.axes[0].y, local < params.axes[0].x);
#else
  var place = Place(0u, true);
  for (var d = 0u; d < AXIS_DIMS; d++) {
    let dim = params.axes[d];
    let local = (index / dim.z) % dim.w - (params.first_index / dim.z) % dim.w;
    place.offset += local * dim.y;
    place.inside = place.inside && local < dim.x;
  }
  return place;
#endif
}

// Element offset (x) and step of the flattened index (y) of a position along the axis, counted within this dispatch's piece.
fn axis_step(position: u32) -> vec2<u32> {
#if AXIS_DIMS == 1
  return vec2<u32>(position * params.axes[0].y, position);
#else
  var step = vec2<u32>(0u);
  var rest = position;
  for (var d = 0u; d < AXIS_DIMS; d++) {
    let dim = params.axes[d];
    let next = rest / dim.x;
    step += (rest - next * dim.x) * dim.yz;
    rest = next;
  }
  return step;
#endif
}
