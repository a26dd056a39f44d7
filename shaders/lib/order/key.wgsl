// An element's bits -> its key, and back (lib/order/compare.wgsl).
//
// Bits come left-aligned (an 8-bit element in the top byte): types of up to 32 bits are one case.
// 64-bit types are two words, x high and y low. Numbers of the type and the direction are
// parameters: one text serves all integers or all floats of a size, and both directions.
//   MINUS  0x80000000 for floats, which are sign and magnitude with two equal zeros; else 0
#import order/compare
#import io/params

// The bits in which a key differs from its signed number.
fn flips() -> Key { return key_from(vec2<u32>(params.flip_high, params.flip_low)); }

#if MINUS

// All ones for a negative float, else 0.
fn minus_of(high: u32) -> u32 { return u32(bitcast<i32>(high) >> 31u); }

// Their params.flip_high is the sign bit to put the smallest first, else all used bits but that.
fn largest_first() -> bool { return params.flip_high < MINUS; }

#if KEY_WORDS == 1

// The key of bits that are no NaN's.
fn key_of_number(bits: Key) -> Key {
  let minus = minus_of(bits);
  return (((bits & ~MINUS) ^ minus) - minus) ^ flips();
}

fn key_of(bits: Key) -> Key { return select(key_of_number(bits), params.nan_key, (bits & ~MINUS) > params.largest); }

// The element's bits. `bits_are_known` is false for NaNs and zeros, whose key is shared.
fn bits_from(key: Key) -> Key {
  let number = key ^ flips();
  let minus = minus_of(number);
  return ((number ^ minus) - minus) | (number & MINUS);
}

#else

// Negative numbers are complemented: a negative would carry from word to word. -0.0 is told apart.
fn key_of(bits: Key) -> Key {
  let magnitude = bits.x & ~MINUS;
  let minus = select(0u, minus_of(bits.x), (magnitude | bits.y) != 0u);
  let nan = magnitude + select(0u, 1u, bits.y != 0u) > params.largest;
  return select(Key(magnitude ^ minus, bits.y ^ minus) ^ flips(), Key(params.nan_key), nan);
}

fn bits_from(key: Key) -> Key {
  let number = key ^ flips();
  return (number ^ Key(minus_of(number.x))) | Key(number.x & MINUS, 0u);
}

#endif

fn is_nan(key: Key) -> bool { return key_equal(key, Key(params.nan_key)); }

#if KEY_WORDS == 1

fn nan_first() -> bool { return params.nan_key == 0u; }

// The keys of zero, which is in the middle of the numbers', and of the first number.
fn key_of_zero() -> Key { return params.flip_high; }
fn key_of_first() -> Key { return key_of_zero() - params.largest; }

// Whether no element's key comes before one: before the first number's only NaN's may.
fn none_before(key: Key) -> bool { return key <= select(key_of_first(), 0u, nan_first()); }

#else
fn none_before(key: Key) -> bool { return key_equal(key, Key()); }
#endif

fn bits_are_known(key: Key, bits: Key) -> bool { return !is_nan(key) & !key_equal(bits, Key(0u)); }

#else

fn key_of(bits: Key) -> Key { return bits ^ flips(); }
fn bits_from(key: Key) -> Key { return key_of(key); }
fn is_nan(key: Key) -> bool { return false; }
fn none_before(key: Key) -> bool { return key_equal(key, Key()); }
fn bits_are_known(key: Key, bits: Key) -> bool { return true; }

#endif
