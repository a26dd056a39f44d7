// An element's bits -> its key, and back (lib/order/compare.wgsl).
//
// Bits come left-aligned (an 8-bit element in the top byte): types of up to 32 bits are one case.
// 64-bit types are two words, x high and y low. No branch on the data type survives folding.
//   SIGN_BIT   0x80000000 for signed and float types, 0 for unsigned
//   MINUS      0x80000000 for floats, which are sign and magnitude with two equal zeros; else 0
//   LARGEST    high word of the largest magnitude; NaNs lie above; 0xffffffff where there are none
//   NAN_KEY    the word of the key of every NaN
//   DIRECTION  the used bits of a key to put the largest first, 0 to put the smallest first
#import order/compare

// All ones for a negative float, else 0.
fn minus_of(high: u32) -> u32 { return u32(bitcast<i32>(high & MINUS) >> 31u); }

#if KEY_WORDS == 1

fn key_of(bits: Key) -> Key {
  let magnitude = bits & ~MINUS;
  let minus = minus_of(bits);
  let ordered = (magnitude ^ minus) - minus + SIGN_BIT;
  return select(select(ordered, DIRECTION - ordered, DIRECTION != 0u), NAN_KEY, magnitude > LARGEST);
}

// The element's bits. `bits_are_known` is false for NaNs and zeros, whose key is shared.
fn bits_from(key: Key) -> Key {
  let number = (key ^ DIRECTION) - SIGN_BIT;
  let minus = minus_of(number);
  return ((number ^ minus) - minus) | (number & MINUS);
}

fn is_nan(key: Key) -> bool { return MINUS != 0u && key == NAN_KEY; }

fn bits_are_known(key: Key, bits: Key) -> bool { return MINUS == 0u || (!is_nan(key) && bits != 0u); }

#else

// Negative numbers are complemented: a negative would carry from word to word. -0.0 is told apart.
fn key_of(bits: Key) -> Key {
  let magnitude = bits.x & ~MINUS;
  let minus = select(0u, minus_of(bits.x), (magnitude | bits.y) != 0u);
  let ordered = Key((magnitude ^ minus) + SIGN_BIT, bits.y ^ minus);
  let nan = MINUS != 0u && magnitude + select(0u, 1u, bits.y != 0u) > LARGEST;
  return select(ordered ^ Key(DIRECTION), Key(NAN_KEY), nan);
}

fn bits_from(key: Key) -> Key {
  let number = (key ^ Key(DIRECTION)) - Key(SIGN_BIT, 0u);
  return (number ^ Key(minus_of(number.x))) | Key(number.x & MINUS, 0u);
}

fn is_nan(key: Key) -> bool { return MINUS != 0u && all(key == Key(NAN_KEY)); }

fn bits_are_known(key: Key, bits: Key) -> bool { return MINUS == 0u || (!is_nan(key) && any(bits != Key(0u))); }

#endif
