// Which bits of a word of pairs are used.
#import io/params

// The lowest bit of a word that is used, and the one above its highest. One way out, as barriers
// wait for it (docs/driver-bugs.md).
fn bits_of_word(word: u32) -> vec2<u32> {
  let of_key = vec2<u32>(32u - min(32u, params.key_bits - 32u * word), 32u);
  return select(of_key, vec2<u32>(0u, params.index_bits), word == KEY_WORDS);
}
