// Packed words: what a key exceeds the least key by, and the item's place in the last PLACE_BITS.
//
// Words are ordered by key, then by place. Where there is not room, last bits of keys are dropped.

const PLACES: u32 = (1u << PLACE_BITS) - 1u;   // No place is all ones.
const UNUSED: u32 = 32u - 8u * ELEMENT_BYTES;  // Last bits of a key, always zero; left out here.

struct Packing {
  least: u32,
  beyond: u32,  // One key for all that come after the bound.
  lost: u32,    // Bits of a key that are left out.
  scale: u32,
  offset: u32,
}

// For keys from the least one (x) to a bound (y), and others that come after it.
fn packing_of(range: vec2<u32>) -> Packing {
  let beyond = max(range.y, range.y + 1u);
  let zeros = countLeadingZeros(beyond - range.x);
  let lost = max(zeros, PLACE_BITS) - zeros;
  let scale = 1u << (PLACE_BITS - lost);
  return Packing(range.x, beyond, lost, scale, 0u - range.x * scale);
}

// A key's word, with bits that were left out in place of the item's place.
fn packed(packing: Packing, key: u32) -> u32 { return min(key, packing.beyond) * packing.scale + packing.offset; }

fn alike(a: u32, b: u32) -> bool { return (a ^ b) <= PLACES; }
