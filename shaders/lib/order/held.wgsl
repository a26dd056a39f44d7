// A pair as workgroup memory and registers hold it: in one word where key and index find room.
//   PACKED      1 where the key has so few bits that the index fits below them
//   HELD_WORDS  words that hold a pair; 1 too where a word has its place instead
#import order/pair

#if HELD_WORDS == 1

#if PACKED
const INDEX_MASK: u32 = 0xffffffffu >> (8u * ELEMENT_BYTES);  // No index has all of these bits.

fn held_of(pair: Pair) -> Held { return (pair.key & ~INDEX_MASK) | (pair.index & INDEX_MASK); }
fn pair_held(held: Held) -> Pair {
  let index = held & INDEX_MASK;
  return Pair(held & ~INDEX_MASK, select(index, NO_INDEX, index == INDEX_MASK));
}
#endif

alias Held = u32;

fn held_before(a: Held, b: Held) -> bool { return a < b; }
fn first_held(a: Held, b: Held) -> Held { return min(a, b); }
fn last_held(a: Held, b: Held) -> Held { return max(a, b); }
fn one_held(a: Held, b: Held, first: bool) -> Held { return select(max(a, b), min(a, b), first); }
fn word_held(held: Held, w: u32) -> u32 { return held; }
fn with_word_held(held: Held, w: u32, word: u32) -> Held { return word; }

#else

alias Held = Stored;

fn held_of(pair: Pair) -> Held { return store_of(pair); }
fn pair_held(held: Held) -> Pair { return pair_of(held); }
fn held_before(a: Held, b: Held) -> bool { return before(pair_of(a), pair_of(b)); }
fn first_held(a: Held, b: Held) -> Held { return select(a, b, before(pair_of(b), pair_of(a))); }
fn last_held(a: Held, b: Held) -> Held { return select(b, a, before(pair_of(b), pair_of(a))); }
fn one_held(a: Held, b: Held, first: bool) -> Held { return select(a, b, before(pair_of(b), pair_of(a)) == first); }
fn word_held(held: Held, w: u32) -> u32 { return held[w]; }
fn with_word_held(held: Held, w: u32, word: u32) -> Held {
  var changed = held;
  changed[w] = word;
  return changed;
}

#endif

fn nothing_held() -> Held { return Held(0xffffffffu); }
fn is_nothing(held: Held) -> bool { return all(held == nothing_held()); }
