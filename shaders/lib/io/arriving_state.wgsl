// What arrives at a running top-k: the pairs that another one keeps, as if its items came now.
//   IDS  1 where the caller gave ids; else positions go on
#import io/running

@group(0) @binding(2) var<storage, read_write> other: array<u32>;  // as state

fn other_row(sequence: u32) -> u32 { return sequence_offsets(sequence).z * row_words(); }

fn arriving(sequence: u32) -> u32 { return other[other_row(sequence) + 2u]; }

fn arriving_bits(sequence: u32, i: u32) -> Key {
  let at = other_row(sequence) + HEAD + i * ENTRY;
  return key_from(vec2<u32>(other[at], other[at + KEY_WORDS - 1u]));
}

fn arriving_key(sequence: u32, i: u32) -> Key { return key_of(arriving_bits(sequence, i)); }

fn arriving_entry(sequence: u32, i: u32, row: u32) -> Entry {
  let at = other_row(sequence) + HEAD + i * ENTRY + KEY_WORDS;
  var id = vec2<u32>(other[at], other[at + 1u]);
#if !IDS
  id = sum_of(id, vec2<u32>(state[row], state[row + 1u]));
#endif
  return Entry(arriving_bits(sequence, i), id);
}
