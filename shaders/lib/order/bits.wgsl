// Bits of keys, from the first on.
#import order/compare

#if KEY_WORDS == 1

fn first_bit(key: Key) -> Key { return select(0u, 1u << (31u - countLeadingZeros(key)), key != 0u); }
fn next_bit(bit: Key) -> Key { return bit >> 1u; }
// A bit, if there is one, and those behind it.
fn up_to_bit(bit: Key) -> Key { return select(0u, bit | (bit - 1u), bit != 0u); }
fn any_bit(bit: Key) -> bool { return bit != 0u; }

#else

fn first_bit(key: Key) -> Key {
  let word = select(key.y, key.x, key.x != 0u);
  let bit = select(0u, 1u << (31u - countLeadingZeros(word)), word != 0u);
  return select(Key(0u, bit), Key(bit, 0u), key.x != 0u);
}
fn next_bit(bit: Key) -> Key { return Key(bit.x >> 1u, (bit.y >> 1u) | (bit.x << 31u)); }
fn up_to_bit(bit: Key) -> Key {
  if (bit.x != 0u) { return Key(bit.x | (bit.x - 1u), 0xffffffffu); }
  return Key(0u, select(0u, bit.y | (bit.y - 1u), bit.y != 0u));
}
fn any_bit(bit: Key) -> bool { return (bit.x | bit.y) != 0u; }

#endif
