// Ordered keys: an element's bits -> an unsigned key whose ascending order is the wanted order (first key = first out).
//
// Bits come left-aligned (an 8-bit element in the top byte), so that every type of up to 32 bits is one case; 64-bit types are
// two words, x high and y low. The constants that tell the types apart fold away: no branch on the data type is left.
//   KEY_WORDS  1 or 2
//   SIGN_BIT   0x80000000 for signed and float types, 0 for unsigned
//   MINUS      0x80000000 for floats, whose sign stands beside a magnitude: as a number in two's complement, -0.0 is +0.0; 0 otherwise
//   LARGEST    the largest magnitude (high word) that is a number; above it lie the NaNs; 0xffffffff where there are none
//   NAN_KEY    the word of the key of every NaN
//   DIRECTION  the used bits of a key to put the largest first, 0 to put the smallest first

// All ones for a negative float, else 0.
fn minus_of(high: u32) -> u32 { return u32(bitcast<i32>(high & MINUS) >> 31u); }

#if KEY_WORDS == 1

alias Key = u32;
const LAST_KEY: Key = 0xffffffffu;

fn key_less(a: Key, b: Key) -> bool { return a < b; }
fn key_equal(a: Key, b: Key) -> bool { return a == b; }
fn key_min(a: Key, b: Key) -> Key { return min(a, b); }
fn key_max(a: Key, b: Key) -> Key { return max(a, b); }

fn key_of(bits: Key) -> Key {
  let magnitude = bits & ~MINUS;
  let minus = minus_of(bits);
  let ordered = (magnitude ^ minus) - minus + SIGN_BIT;
  return select(select(ordered, DIRECTION - ordered, DIRECTION != 0u), NAN_KEY, magnitude > LARGEST);
}

// The element's bits again; `bits_are_known` says whether the key tells them (not which NaN, nor which zero).
fn bits_from(key: Key) -> Key {
  let number = (key ^ DIRECTION) - SIGN_BIT;
  let minus = minus_of(number);
  return ((number ^ minus) - minus) | (number & MINUS);
}

fn bits_are_known(key: Key, bits: Key) -> bool {
  return MINUS == 0u || (key != NAN_KEY && bits != 0u);
}

#else

alias Key = vec2<u32>;
const LAST_KEY: Key = vec2<u32>(0xffffffffu, 0xffffffffu);

fn key_less(a: Key, b: Key) -> bool { return a.x < b.x || (a.x == b.x && a.y < b.y); }
fn key_equal(a: Key, b: Key) -> bool { return a.x == b.x && a.y == b.y; }
fn key_min(a: Key, b: Key) -> Key { return select(a, b, key_less(b, a)); }
fn key_max(a: Key, b: Key) -> Key { return select(a, b, key_less(a, b)); }

// The number of two words, or its negative where `minus` is all ones.
fn negated(number: Key, minus: u32) -> Key {
  let low = (number.y ^ minus) - minus;
  return Key((number.x ^ minus) + select(0u, 1u, minus != 0u && low == 0u), low);
}

fn key_of(bits: Key) -> Key {
  let magnitude = Key(bits.x & ~MINUS, bits.y);
  let ordered = negated(magnitude, minus_of(bits.x)) + Key(SIGN_BIT, 0u);
  let nan = magnitude.x > LARGEST || (magnitude.x == LARGEST && bits.y != 0u && MINUS != 0u);
  return select(ordered ^ Key(DIRECTION), Key(NAN_KEY), nan);
}

fn bits_from(key: Key) -> Key {
  let number = (key ^ Key(DIRECTION)) - Key(SIGN_BIT, 0u);
  return negated(number, minus_of(number.x)) | Key(number.x & MINUS, 0u);
}

fn bits_are_known(key: Key, bits: Key) -> bool {
  return MINUS == 0u || (any(key != Key(NAN_KEY)) && any(bits != Key(0u)));
}

#endif
