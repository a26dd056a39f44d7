// A pair (key, index) and its strict total order: by key, ties by index. No two pairs of a sequence are equal, so every
// reduction tree, sorting network and partition of the work gives the same answer.
// LAST_PAIR stands for "nothing": it comes after every pair.
#import key

struct Pair { key: Key, index: u32 }

const NO_INDEX: u32 = 0xffffffffu;

fn last_pair() -> Pair { return Pair(LAST_KEY, NO_INDEX); }

fn before(a: Pair, b: Pair) -> bool {
  return key_less(a.key, b.key) || (key_equal(a.key, b.key) && a.index < b.index);
}
