// What is between two keys.
#import order/arithmetic

#if KEY_WORDS == 1
const KEY_STEP: Key = 1u << (32u - 8u * ELEMENT_BYTES);  // Keys have no bits below it.
#else
const KEY_STEP: Key = Key(0u, 1u);
#endif

fn at_least_a_step(distance: Key) -> Key { return key_max(distance & key_minus(Key(), KEY_STEP), KEY_STEP); }

// Half of the way from one key to a later one.
fn key_amid(low: Key, high: Key) -> Key { return key_plus(low, at_least_a_step(shifted_down(key_minus(high, low), 1u))); }

// A key so many 256ths of the way from one to a later one, and a step at least.
fn key_between(low: Key, high: Key, share: u32) -> Key {
  let span = key_minus(high, low);
  let excess = max(32u * KEY_WORDS - 24u, key_zeros(span)) - key_zeros(span);
  let part = (key_word(shifted_down(span, excess), KEY_WORDS - 1u) * share) >> 8u;
  return key_min(key_plus(low, at_least_a_step(shifted_up(low_key(part), excess))), high);
}
