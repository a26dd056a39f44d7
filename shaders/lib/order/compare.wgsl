// Keys: unsigned numbers whose ascending order is the wanted order (first key = first out).
// Comparisons have no short circuits, each of which is a branch: with one for each of 32 items a
// driver took over 8 GB to compile a kernel (docs/driver-bugs.md).
//   KEY_WORDS  1 or 2; of two words, x is the high one

#if KEY_WORDS == 1

alias Key = u32;
const LAST_KEY: Key = 0xffffffffu;

fn key_less(a: Key, b: Key) -> bool { return a < b; }
fn key_equal(a: Key, b: Key) -> bool { return a == b; }
fn key_min(a: Key, b: Key) -> Key { return min(a, b); }
fn key_max(a: Key, b: Key) -> Key { return max(a, b); }
// The key before one that is not the first.
fn key_before(a: Key) -> Key { return a - 1u; }
// The words of a key, most significant first. A key of one word has none behind.
fn key_from(words: vec2<u32>) -> Key { return words.x; }
fn words_of_key(key: Key) -> vec2<u32> { return vec2<u32>(key, 0u); }
fn key_word(key: Key, w: u32) -> u32 { return key; }
fn with_key_word(key: Key, w: u32, word: u32) -> Key { return word; }

#else

alias Key = vec2<u32>;
const LAST_KEY: Key = vec2<u32>(0xffffffffu, 0xffffffffu);

fn key_less(a: Key, b: Key) -> bool { return (a.x < b.x) | ((a.x == b.x) & (a.y < b.y)); }
fn key_equal(a: Key, b: Key) -> bool { return (a.x == b.x) & (a.y == b.y); }
fn key_min(a: Key, b: Key) -> Key { return select(a, b, key_less(b, a)); }
fn key_max(a: Key, b: Key) -> Key { return select(a, b, key_less(a, b)); }
// The key before one that is not the first.
fn key_before(a: Key) -> Key { return Key(a.x - select(0u, 1u, a.y == 0u), a.y - 1u); }
fn key_from(words: vec2<u32>) -> Key { return words; }
fn words_of_key(key: Key) -> vec2<u32> { return key; }
fn key_word(key: Key, w: u32) -> u32 { return select(key.x, key.y, w == 1u); }
fn with_key_word(key: Key, w: u32, word: u32) -> Key { return select(Key(key.x, word), Key(word, key.y), w == 0u); }

#endif
