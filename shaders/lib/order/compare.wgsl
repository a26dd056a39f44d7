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

#else

alias Key = vec2<u32>;
const LAST_KEY: Key = vec2<u32>(0xffffffffu, 0xffffffffu);

fn key_less(a: Key, b: Key) -> bool { return (a.x < b.x) | ((a.x == b.x) & (a.y < b.y)); }
fn key_equal(a: Key, b: Key) -> bool { return (a.x == b.x) & (a.y == b.y); }
fn key_min(a: Key, b: Key) -> Key { return select(a, b, key_less(b, a)); }
fn key_max(a: Key, b: Key) -> Key { return select(a, b, key_less(a, b)); }
// The key before one that is not the first.
fn key_before(a: Key) -> Key { return Key(a.x - select(0u, 1u, a.y == 0u), a.y - 1u); }

#endif
