// Keys as numbers of one word or two: sums, differences, shifts.
#import order/compare

#if KEY_WORDS == 1
fn key_minus(a: Key, b: Key) -> Key { return a - b; }
fn key_plus(a: Key, b: Key) -> Key { return a + b; }
fn key_zeros(key: Key) -> u32 { return countLeadingZeros(key | 1u); }
fn shifted_up(key: Key, bits: u32) -> Key { return key << bits; }
fn shifted_down(key: Key, bits: u32) -> Key { return key >> bits; }
// A number of which the first bits count, and of which the last do.
fn number_key(number: u32) -> Key { return number; }
fn low_key(number: u32) -> Key { return number; }
#else
fn key_minus(a: Key, b: Key) -> Key { return Key(a.x - b.x - select(0u, 1u, a.y < b.y), a.y - b.y); }
fn key_plus(a: Key, b: Key) -> Key { return Key(a.x + b.x + select(0u, 1u, a.y + b.y < b.y), a.y + b.y); }
fn key_zeros(key: Key) -> u32 { return select(countLeadingZeros(key.x), 32u + countLeadingZeros(key.y | 1u), key.x == 0u); }
fn shifted_up(key: Key, bits: u32) -> Key {
  let moved = select(key, Key(key.y, 0u), bits >= 32u);
  return (moved << Key(bits & 31u)) | Key((moved.y >> 1u) >> (31u - (bits & 31u)), 0u);
}
fn shifted_down(key: Key, bits: u32) -> Key {
  let moved = select(key, Key(0u, key.x), bits >= 32u);
  return (moved >> Key(bits & 31u)) | Key(0u, (moved.x << 1u) << (31u - (bits & 31u)));
}
fn number_key(number: u32) -> Key { return Key(number, 0u); }
fn low_key(number: u32) -> Key { return Key(0u, number); }
#endif
