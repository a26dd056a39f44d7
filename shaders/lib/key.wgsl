// Ordered keys: an element's bits -> an unsigned key whose ascending order is the wanted order (first key = first out).
//
// Bits come left-aligned (an 8-bit element in the top byte), so that every type of up to 32 bits is one case; 64-bit types are
// two words, x high and y low. The constants that tell the types apart fold away: no branch on the data type is left.
//   KEY_WORDS      1 or 2
//   NEGATIVE_ZERO  the bits (high word) of -0.0 for floats, 0 otherwise: -0.0 gets the key of +0.0
//   SIGN_BIT       0x80000000 for signed and float types, 0 for unsigned
//   FLOAT_MASK     the bits below the sign for floats (negative ones count downwards), 0 otherwise
//   LARGEST        the largest magnitude (high word) that is a number; above it lie the NaNs; 0xffffffff where there are none
//   NAN_KEY        the word of the key of every NaN
//   DIRECTION      the used bits of a key to put the largest first, 0 to put the smallest first

#if KEY_WORDS == 1

alias Key = u32;
const LAST_KEY: Key = 0xffffffffu;

fn key_less(a: Key, b: Key) -> bool { return a < b; }
fn key_equal(a: Key, b: Key) -> bool { return a == b; }

fn key_of(bits: Key) -> Key {
  let b = select(bits, 0u, bits == NEGATIVE_ZERO);
  let negative = u32(bitcast<i32>(b) >> 31u);
  let ordered = b ^ (SIGN_BIT | (negative & FLOAT_MASK));
  return select(ordered ^ DIRECTION, NAN_KEY, (bits & 0x7fffffffu) > LARGEST);
}

// The element's bits again; `bits_are_known` says whether the key tells them (not which NaN, nor which zero).
fn bits_from(key: Key) -> Key {
  let ordered = key ^ DIRECTION;
  let negative = ~u32(bitcast<i32>(ordered) >> 31u);
  return ordered ^ (SIGN_BIT | (negative & FLOAT_MASK));
}

fn bits_are_known(key: Key, bits: Key) -> bool {
  return FLOAT_MASK == 0u || (key != NAN_KEY && bits != 0u);
}

#else

alias Key = vec2<u32>;
const LAST_KEY: Key = vec2<u32>(0xffffffffu, 0xffffffffu);

fn key_less(a: Key, b: Key) -> bool { return a.x < b.x || (a.x == b.x && a.y < b.y); }
fn key_equal(a: Key, b: Key) -> bool { return a.x == b.x && a.y == b.y; }

fn key_of(bits: Key) -> Key {
  let b = vec2<u32>(select(bits.x, 0u, bits.x == NEGATIVE_ZERO && bits.y == 0u), bits.y);
  let negative = u32(bitcast<i32>(b.x) >> 31u) & FLOAT_MASK;
  let low_flip = select(0u, 0xffffffffu, negative != 0u);
  let ordered = b ^ vec2<u32>(SIGN_BIT | negative, low_flip);
  let magnitude = bits.x & 0x7fffffffu;
  let nan = magnitude > LARGEST || (magnitude == LARGEST && bits.y != 0u && FLOAT_MASK != 0u);
  return select(ordered ^ vec2<u32>(DIRECTION), vec2<u32>(NAN_KEY), nan);
}

fn bits_from(key: Key) -> Key {
  let ordered = key ^ vec2<u32>(DIRECTION);
  let negative = ~u32(bitcast<i32>(ordered.x) >> 31u) & FLOAT_MASK;
  return ordered ^ vec2<u32>(SIGN_BIT | negative, select(0u, 0xffffffffu, negative != 0u));
}

fn bits_are_known(key: Key, bits: Key) -> bool {
  return FLOAT_MASK == 0u || (any(key != vec2<u32>(NAN_KEY)) && any(bits != vec2<u32>(0u)));
}

#endif
