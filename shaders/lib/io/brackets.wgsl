// Brackets of pairs, each wide enough for the wanted ones: [bracket][first, last], the words of a
// pair each, most significant first.
#import order/arithmetic
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
