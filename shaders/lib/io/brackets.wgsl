// Brackets of pairs, each wide enough for the wanted ones: [bracket][first, last], the words of a
// pair each, most significant first.
#import order/words

@group(0) @binding(4) var<storage, read_write> brackets: array<vec4<u32>>;

// Where a bracket begins, and the zero bits before its width: of its keys, or if it has a single
// one, of its indices.
struct Frame { low: Pair, zeros: u32, one_key: bool }

fn frame_of(bracket: u32) -> Frame {
  let low = pair_from(brackets[2u * bracket].xyz);
  let high = pair_from(brackets[2u * bracket + 1u].xyz);
  let width = key_minus(high.key, low.key);
  let one_key = key_equal(low.key, high.key);
  let zeros = select(key_zeros(width), countLeadingZeros((high.index - low.index) | 1u), one_key);
  return Frame(low, zeros, one_key);
}

#if KEY_WORDS == 1
fn key_minus(a: Key, b: Key) -> Key { return a - b; }
fn key_plus(a: Key, b: Key) -> Key { return a + b; }
fn key_zeros(key: Key) -> u32 { return countLeadingZeros(key | 1u); }
fn shifted_up(key: Key, bits: u32) -> Key { return key << bits; }
fn shifted_down(key: Key, bits: u32) -> Key { return key >> bits; }
fn number_key(number: u32) -> Key { return number; }
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
#endif

// A pair of a bracket, its key being how far in that it lies: the first bit tells the halves.
// And the pair again. So digits tell pairs apart, even where a bracket has one key.
fn into_bracket(frame: Frame, pair: Pair) -> Pair {
  if (frame.one_key) { return Pair(number_key((pair.index - frame.low.index) << frame.zeros), pair.index); }
  return Pair(shifted_up(key_minus(pair.key, frame.low.key), frame.zeros), pair.index);
}

fn out_of_bracket(frame: Frame, pair: Pair) -> Pair {
  if (frame.one_key) { return Pair(frame.low.key, pair.index); }
  return Pair(key_plus(shifted_down(pair.key, frame.zeros), frame.low.key), pair.index);
}
