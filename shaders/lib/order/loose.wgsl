// An element's bits -> its loose key: a number in the order of keys that takes fewer operations.
//
// Zeros of both signs share a key, and so do NaNs. Their loose keys differ, but are neighbours.
#import order/key

#if KEY_WORDS == 1 && MINUS

alias Loose = u32;

// Signed numbers in the order of the numbers that floats are, counted from what comes first: the
// first number or, where NaNs come first, what is behind the last one. NaNs lie beyond both
// infinities, and those of one sign wrap around to where those of the other sign are.
fn loose_of(bits: u32) -> Loose {
  let number = bits ^ (minus_of(bits) & ~MINUS) ^ select(0u, 0xffffffffu, largest_first());
  return number - select(~params.largest, params.largest + 1u, nan_first());
}

// Of the first number, behind which there are twice params.largest and the second zero.
fn loose_of_first() -> Loose { return select(0u, ~(2u * params.largest + 1u), nan_first()); }

fn key_of_last() -> Key { return key_of_zero() + params.largest; }

// Of a number with a key, or the one next to it, but that zero counts as one.
fn loose_of_next(key: Key) -> Loose { return loose_of_first() + (clamp(key, key_of_first(), key_of_last()) - key_of_first()); }

// The loose key of the first element whose key is not before a key.
fn loose_first(key: Key) -> Loose {
  let further = select(0u, 1u, key > key_of_zero()) + select(0u, 1u, key > key_of_last());
  return select(loose_of_next(key) + further, 0u, key == 0u);
}

// The loose key of the last element whose key is not after a key.
fn loose_last(key: Key) -> Loose {
  let further = select(0u, 1u, key >= key_of_zero()) - select(0u, 1u, key < key_of_first());
  return select(loose_of_next(key) + further, 0xffffffffu, !nan_first() & (key >= params.nan_key));
}

// A loose key that is the same for all elements with one key.
fn merged(loose: Loose) -> Loose {
  let first = loose_of_first();
  let number = select(min(loose, first + 2u * params.largest + 2u), max(loose, first - 1u), nan_first());
  return number + select(0u, 1u, number == first + params.largest);
}

#else

alias Loose = Key;

fn loose_of(bits: Key) -> Loose { return key_of(bits); }
fn loose_first(key: Key) -> Loose { return key; }
fn loose_last(key: Key) -> Loose { return key; }
fn merged(loose: Loose) -> Loose { return loose; }

#endif
