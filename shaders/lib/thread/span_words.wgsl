// Packed words as lib/thread/packed_words.wgsl has them, but a span of few items has short places.

const UNUSED: u32 = 32u - 8u * ELEMENT_BYTES;  // Last bits of a key, always zero; left out here.

struct Packing {
  least: u32,
  lost: u32,    // Bits of a key that are left out.
  scale: u32,
  offset: u32,
  bits: u32,    // Of a place.
  places: u32,  // Those bits in a word. No place has all of them.
}

// For keys from the least one (x) to a bound (y), and places before an end.
fn packing_of(range: vec2<u32>, end: u32) -> Packing {
  let bits = 32u - countLeadingZeros(end);
  let zeros = countLeadingZeros(range.y - range.x);
  let lost = max(zeros, bits) - zeros;
  let scale = 1u << (bits - lost);
  return Packing(range.x, lost, scale, 0u - range.x * scale, bits, (1u << bits) - 1u);
}

// The word of a key up to the bound, without the place. Bits that were left out are in its stead.
fn packed(packing: Packing, key: u32) -> u32 { return key * packing.scale + packing.offset; }

fn alike(a: u32, b: u32, places: u32) -> bool { return (a ^ b) <= places; }
