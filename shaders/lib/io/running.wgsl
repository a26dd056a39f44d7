// Rows of a running top-k in `state`, one a sequence: how many items came (low word, high word),
// how many pairs are kept, a word to spare; then params.k pairs in order, of bits and id.
#import order/key
#import io/params

const HEAD: u32 = 4u;
const ENTRY: u32 = KEY_WORDS + 2u;

@group(0) @binding(6) var<storage, read_write> state: array<u32>;

fn row_words() -> u32 { return HEAD + params.k * ENTRY; }

// A pair that is kept: the bits of its element, and the words of its id.
struct Entry { bits: Key, id: vec2<u32> }

fn bits_kept(row: u32, rank: u32) -> Key {
  let at = row + HEAD + rank * ENTRY;
  return key_from(vec2<u32>(state[at], state[at + KEY_WORDS - 1u]));
}

fn id_kept(row: u32, rank: u32) -> vec2<u32> {
  let at = row + HEAD + rank * ENTRY + KEY_WORDS;
  return vec2<u32>(state[at], state[at + 1u]);
}

fn sum_of(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn put_kept(row: u32, rank: u32, entry: Entry) {
  let at = row + HEAD + rank * ENTRY;
  state[at] = key_word(entry.bits, 0u);
  state[at + KEY_WORDS - 1u] = key_word(entry.bits, KEY_WORDS - 1u);
  state[at + KEY_WORDS] = entry.id.x;
  state[at + KEY_WORDS + 1u] = entry.id.y;
}
