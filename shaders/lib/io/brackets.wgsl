// Brackets of pairs, each wide enough for the wanted ones: [bracket][first, last], the words of a
// pair each, most significant first. The fourth word of a first pair: bits of its key and of its
// index that no pair uses.
#import order/words

@group(0) @binding(4) var<storage, read_write> brackets: array<vec4<u32>>;

fn unused_bits(key_bits: u32, index_bits: u32) -> u32 { return (min(32u, 32u * KEY_WORDS - key_bits) << 8u) | (32u - index_bits); }

// Words as one number, the bits that are used side by side from the first on; and back.
fn number_of(words: vec3<u32>, unused: u32) -> vec3<u32> {
#if KEY_WORDS == 1
  return vec3<u32>(words.x >> (unused >> 8u), words.y << (unused & 0xffu), 0u);
#else
  return vec3<u32>(words.xy, words.z << (unused & 0xffu));
#endif
}

fn words_from(number: vec3<u32>, unused: u32) -> vec3<u32> {
#if KEY_WORDS == 1
  return vec3<u32>(number.x << (unused >> 8u), number.y >> (unused & 0xffu), 0u);
#else
  return vec3<u32>(number.xy, number.z >> (unused & 0xffu));
#endif
}

fn difference(a: vec3<u32>, b: vec3<u32>) -> vec3<u32> {
  let borrows = vec2<u32>(a.yz < b.yz);
  let of_y = borrows.x | (u32(a.y == b.y) & borrows.y);
  return vec3<u32>(a.x - b.x - of_y, a.y - b.y - borrows.y, a.z - b.z);
}

fn sum(a: vec3<u32>, b: vec3<u32>) -> vec3<u32> {
  let z = a.z + b.z;
  let of_z = u32(z < a.z);
  let y = a.y + b.y + of_z;
  let of_y = u32((y < a.y) | ((y == a.y) & (of_z == 1u)));
  return vec3<u32>(a.x + b.x + of_y, y, z);
}

fn zeros_before(number: vec3<u32>) -> u32 {
  if (number.x != 0u) { return countLeadingZeros(number.x); }
  if (number.y != 0u) { return 32u + countLeadingZeros(number.y); }
  return 64u + min(31u, countLeadingZeros(number.z));
}

fn shifted_up(number: vec3<u32>, bits: u32) -> vec3<u32> {
  let moved = select(select(number, vec3<u32>(number.yz, 0u), bits >= 32u), vec3<u32>(number.z, 0u, 0u), bits >= 64u);
  let few = bits & 31u;
  return (moved << vec3<u32>(few)) | ((vec3<u32>(moved.yz, 0u) >> vec3<u32>(1u)) >> vec3<u32>(31u - few));
}

fn shifted_down(number: vec3<u32>, bits: u32) -> vec3<u32> {
  let moved = select(select(number, vec3<u32>(0u, number.xy), bits >= 32u), vec3<u32>(0u, 0u, number.x), bits >= 64u);
  let few = bits & 31u;
  return (moved >> vec3<u32>(few)) | ((vec3<u32>(0u, moved.xy) << vec3<u32>(1u)) << vec3<u32>(31u - few));
}

// Where a bracket begins, as a number, and the zero bits before its width.
struct Frame { low: vec3<u32>, zeros: u32, unused: u32 }

fn frame_of(bracket: u32) -> Frame {
  let first = brackets[2u * bracket];
  let low = number_of(first.xyz, first.w);
  let width = difference(number_of(brackets[2u * bracket + 1u].xyz, first.w), low);
  return Frame(low, zeros_before(width), first.w);
}

// How far into its bracket a pair lies, as words whose first bit tells the bracket's halves; and
// the pair again. So digits of words tell pairs apart, whatever keys a bracket lies between.
fn into_bracket(bracket: u32, pair: Pair) -> Pair {
  let frame = frame_of(bracket);
  return pair_from(shifted_up(difference(number_of(words_of(pair), frame.unused), frame.low), frame.zeros));
}

fn out_of_bracket(bracket: u32, pair: Pair) -> Pair {
  let frame = frame_of(bracket);
  return pair_from(words_from(sum(shifted_down(words_of(pair), frame.zeros), frame.low), frame.unused));
}
