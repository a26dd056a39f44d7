// Packed words: what a key exceeds the least key by, and the item's place in the last bits.
//
// Words are ordered by key, then by place. Where there is not room, last bits of keys are dropped.

const UNUSED: u32 = 32u - 8u * ELEMENT_BYTES;  // Last bits of a key, always zero; left out here.

struct Packing {
  least: u32,
  last: u32,
  lost: u32,    // Bits of a key that are left out.
  scale: u32,
  offset: u32,
  bits: u32,    // Of a place.
  places: u32,  // Those bits in a word. No place has all of them.
}

// For keys from the least one to a last one, and places of so many bits.
fn packing_of(least: u32, last: u32, bits: u32) -> Packing {
  let zeros = countLeadingZeros(last - least);
  let lost = max(zeros, bits) - zeros;
  let scale = 1u << (bits - lost);
  return Packing(least, last, lost, scale, 0u - least * scale, bits, (1u << bits) - 1u);
}

// For keys from the least one (x) to a bound (y). One more key is for all that come after it.
fn packing_up_to(range: vec2<u32>, bits: u32) -> Packing { return packing_of(range.x, max(range.y, range.y + 1u), bits); }

// A key's word, with bits that were left out in place of the item's place.
fn packed(packing: Packing, key: u32) -> u32 { return key * packing.scale + packing.offset; }
fn packed_any(packing: Packing, key: u32) -> u32 { return packed(packing, min(key, packing.last)); }

fn alike(a: u32, b: u32, places: u32) -> bool { return (a ^ b) <= places; }
