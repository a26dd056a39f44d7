// A pair (key, index) and its strict total order: by key, ties by index. No two are equal, so every
// reduction tree, sorting network and partition of the work gives the same answer.
// last_pair() stands for "nothing": it comes after every pair.
#import order/compare

struct Pair { key: Key, index: u32 }

const NO_INDEX: u32 = 0xffffffffu;

fn last_pair() -> Pair { return Pair(LAST_KEY, NO_INDEX); }

fn before(a: Pair, b: Pair) -> bool {
  return key_less(a.key, b.key) | (key_equal(a.key, b.key) & (a.index < b.index));
}

// As `select`: the second where that is so.
fn select_pair(a: Pair, b: Pair, second: bool) -> Pair { return Pair(select(a.key, b.key, second), select(a.index, b.index, second)); }

// Is a pair, which may be nothing, up to a threshold?
fn passes(threshold: Pair, pair: Pair) -> bool { return (pair.index != NO_INDEX) & !before(threshold, pair); }

// A pair as it lies in workgroup memory: one load brings all of it.
#if KEY_WORDS == 1
alias Stored = vec2<u32>;
fn store_of(pair: Pair) -> Stored { return Stored(pair.key, pair.index); }
fn pair_of(stored: Stored) -> Pair { return Pair(stored.x, stored.y); }
#else
alias Stored = vec3<u32>;
fn store_of(pair: Pair) -> Stored { return Stored(pair.key, pair.index); }
fn pair_of(stored: Stored) -> Pair { return Pair(stored.xy, stored.z); }
#endif

// The words of a pair, most significant first: those of the key, then the index.
fn word_of_pair(pair: Pair, w: u32) -> u32 {
  if (w == KEY_WORDS) { return pair.index; }
  return key_word(pair.key, w);
}

fn with_word(pair: Pair, w: u32, word: u32) -> Pair {
  if (w == KEY_WORDS) { return Pair(pair.key, word); }
  return Pair(with_key_word(pair.key, w, word), pair.index);
}
