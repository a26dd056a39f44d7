// Pairs as sorts hold them in registers.
//   PACKED  1 where a pair is one word: its key has so few bits that its index fits below them
#import order/bits

#if PACKED

const INDEX_MASK: u32 = 0xffffffffu >> (8u * ELEMENT_BYTES);

alias Held = u32;

fn held_of(pair: Pair) -> Held { return pair.key | pair.index; }
fn pair_held(held: Held) -> Pair { return Pair(held & ~INDEX_MASK, held & INDEX_MASK); }
fn first_held(a: Held, b: Held) -> Held { return min(a, b); }
fn last_held(a: Held, b: Held) -> Held { return max(a, b); }
fn one_held(a: Held, b: Held, first: bool) -> Held { return select(max(a, b), min(a, b), first); }

#else

alias Held = Stored;

fn held_of(pair: Pair) -> Held { return store_of(pair); }
fn pair_held(held: Held) -> Pair { return pair_of(held); }

fn first_held(a: Held, b: Held) -> Held { return select(a, b, comes_first(pair_of(b), pair_of(a))); }
fn last_held(a: Held, b: Held) -> Held { return select(b, a, comes_first(pair_of(b), pair_of(a))); }
fn one_held(a: Held, b: Held, first: bool) -> Held { return select(a, b, comes_first(pair_of(b), pair_of(a)) == first); }

#endif

fn nothing_held() -> Held { return Held(0xffffffffu); }
