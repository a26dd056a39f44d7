// An element's bits -> its loose key: a number in the order of keys that takes fewer operations.
//
// Zeros of both signs share a key, and so do NaNs. Their loose keys differ, but are neighbours.
#import order/key

#if KEY_WORDS == 1 && MINUS

alias Loose = u32;

fn nan_first() -> bool { return params.nan_key == 0u; }

// Signed numbers in the order of the numbers that floats are. NaNs lie beyond both infinities.
fn in_line(bits: u32) -> u32 { return bits ^ (minus_of(bits) & 0x7fffffffu); }

// NaNs of one sign wrap around to where those of the other sign are.
fn loose_of(bits: u32) -> Loose { return (in_line(bits) ^ turned()) - begin_of_line(); }

fn turned() -> u32 { return select(0u, 0xffffffffu, largest_first()); }

// What has the first loose key: the first number or, where NaNs come first, behind the last one.
fn begin_of_line() -> u32 {
  let end = in_line(end_bits(nan_first())) ^ turned();
  return end + select(0u, 1u, nan_first());
}

// The bits of the first and the last number in the wanted order.
fn end_bits(last: bool) -> u32 { return params.largest | select(0u, MINUS, last == largest_first()); }

// The loose key of the first element whose key is not before a key.
fn loose_first(key: Key) -> Loose {
  if (key == 0u) { return 0u; }
  if (key < key_of(end_bits(false))) { return loose_of(end_bits(false)); }
  if (key > key_of(end_bits(true))) { return loose_of(end_bits(true)) + 1u; }
  let bits = bits_from(key);
  return select(loose_of(bits), min(loose_of(0u), loose_of(MINUS)), bits == 0u);
}

// The loose key of the last element whose key is not after a key.
fn loose_last(key: Key) -> Loose {
  if (key >= params.nan_key && !nan_first()) { return 0xffffffffu; }
  if (key > key_of(end_bits(true))) { return loose_of(end_bits(true)); }
  if (key < key_of(end_bits(false))) { return loose_of(end_bits(false)) - 1u; }
  let bits = bits_from(key);
  return select(loose_of(bits), max(loose_of(0u), loose_of(MINUS)), bits == 0u);
}

// A loose key that is the same for all elements with one key.
fn merged(loose: Loose) -> Loose {
  let number = select(min(loose, loose_of(end_bits(true)) + 1u), max(loose, loose_of(end_bits(false)) - 1u), nan_first());
  return number + select(0u, 1u, number == min(loose_of(0u), loose_of(MINUS)));
}

#else

alias Loose = Key;

fn loose_of(bits: Key) -> Loose { return key_of(bits); }
fn loose_first(key: Key) -> Loose { return key; }
fn loose_last(key: Key) -> Loose { return key; }
fn merged(loose: Loose) -> Loose { return loose; }

#endif
