// Bounds of keys, level by level, and what counts of the items up to them tell: k of a sequence,
// or hardly more, are the items up to one of them.
//
// At level 0 the bounds are keys of a sample, and what lies right before each. Where they do not
// serve, later levels cut four bits of keys apart, from the first ones on.
//   BOUNDS         of a level: 17
//   params.places  items of a sequence that there is room for
#import io/params
#import io/tiles
#import io/used_bits
#import order/arithmetic

const SETTLED: u32 = 0x80000000u;
const TIED: u32 = 0x40000000u;
const FIRST_SHIFT: u32 = 32u * KEY_WORDS - 4u;

// The bits above `shift` of the wanted key. Once it is settled: SETTLED, the level and the bound;
// TIED where of the items behind the bound before it only the first are wanted.
struct State { prefix: Key, shift: u32, settled: u32 }

// What all items up to `key` are, or none. Right before the first key it wraps around.
struct Bound { key: Key, none: bool }

// [level][sequence]: how many items are up to each bound, and the four words of a state; 0 before.
@group(0) @binding(7) var<storage, read_write> totals: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> tile_counts: array<u32>;  // [sequence][bound][tile]
// [sequence][rank]: keys of a sample in order.
@group(0) @binding(10) var<storage, read_write> pivots: array<Key>;

fn total_at(level: u32, sequence: u32, bound: u32) -> u32 {
  return (level * params.sequences + sequence) * (BOUNDS + 4u) + bound;
}
fn count_at(sequence: u32, bound: u32, tile: u32) -> u32 { return (sequence * BOUNDS + bound) * params.tiles + tile; }

fn lowest_shift() -> u32 { return 32u * KEY_WORDS - params.key_bits; }

// The prefix and a number of up to five bits from the state's shift on.
fn with_digit(state: State, number: u32) -> Key { return key_plus(state.prefix, shifted_up(low_key(number), state.shift)); }

// No branches: lavapipe compiles kernels anew for values of parameters that choose much of them
// (docs/driver-bugs.md).
fn bound_of(state: State, level: u32, sequence: u32, number: u32) -> Bound {
  let sampled = level == 0u;
  let rank = min(params.sample_rank + number / 2u * params.sample_slack, params.ranks - 1u);
  let pivot = pivots[sequence * params.ranks + rank];
  let key = select(with_digit(state, number), pivot, sampled);
  let right_before = !sampled | ((number % 2u == 0u) & (number + 1u < BOUNDS));
  return Bound(select(key, key_before(key), right_before), right_before & ((number == 0u) | sampled) & key_equal(key, Key()));
}

fn state_at(level: u32, sequence: u32) -> State {
  let at = total_at(level, sequence, BOUNDS);
  let key = key_from(vec2<u32>(atomicLoad(&totals[at]), atomicLoad(&totals[at + 1u])));
  return State(key, atomicLoad(&totals[at + 2u]), atomicLoad(&totals[at + 3u]));
}

fn put_state(level: u32, sequence: u32, state: State) {
  let at = total_at(level, sequence, BOUNDS);
  let words = words_of_key(state.prefix);
  atomicStore(&totals[at], words.x);
  atomicStore(&totals[at + 1u], words.y);
  atomicStore(&totals[at + 2u], state.shift);
  atomicStore(&totals[at + 3u], state.settled);
}

// What is known when a level begins, by the counts of the one before.
fn state_entering(level: u32, sequence: u32) -> State {
  let last = max(level, 1u) - 1u;
  let state = state_at(last, sequence);
  var number = 0u;  // of the first bound that k items are up to
  var count = 0u;   // up to that
  for (var i = 0u; i < BOUNDS; i++) {
    let more = atomicLoad(&totals[total_at(last, sequence, i)]);
    let later = number == i && more < params.k;
    number += select(0u, 1u, later);
    count = select(count, more, number == i);
  }
  let sampled = last == 0u;
  let alone = select(state.shift == lowest_shift(), number % 2u == 1u, sampled);
  let told = SETTLED | (last << 8u) | number;
  let settled = select(select(0u, told, count <= params.places), told | TIED, alone) * select(0u, 1u, number < BOUNDS);
  var next = State(with_digit(state, max(number, 1u) - 1u), state.shift - 4u, 0u);
  next = state_select(next, State(Key(), FIRST_SHIFT, 0u), sampled);
  next = state_select(next, State(state.prefix, state.shift, settled), settled > 0u);
  next = state_select(next, state, state.settled > 0u);
  return state_select(next, State(Key(), FIRST_SHIFT, 0u), level == 0u);
}

fn state_select(a: State, b: State, second: bool) -> State {
  return State(select(a.prefix, b.prefix, second), select(a.shift, b.shift, second), select(a.settled, b.settled, second));
}
