// Merges what arrives into what is kept: state, pairs in order and input, or other -> next.
//
// A pair's rank is its own among those it lies with, and the number before it among the others. Of
// equal keys the earlier one comes first, or the later one where params.index_flip is not 0.
//   FROM_STATE  1 where another running top-k arrives
#if FROM_STATE
#import io/arriving_state
#else
#import io/arriving_pairs
#endif

@group(0) @binding(7) var<storage, read_write> next: array<u32>;  // [sequence][row], as state

// Whether a key that is kept comes before one that arrives.
fn stays_before(kept: Key, arrives: Key) -> bool {
  return key_less(kept, arrives) || (params.index_flip == 0u && key_equal(kept, arrives));
}

// How many of those that are kept come before a key that arrives.
fn kept_before(row: u32, kept: u32, key: Key) -> u32 {
  var low = 0u;
  var high = kept;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (stays_before(key_of(bits_kept(row, middle)), key)) { low = middle + 1u; } else { high = middle; }
  }
  return low;
}

// And how many of those that arrive before one that is kept.
fn arriving_before(sequence: u32, key: Key) -> u32 {
  var low = 0u;
  var high = arriving(sequence);
  while (low < high) {
    let middle = (low + high) / 2u;
    if (stays_before(key, arriving_key(sequence, middle))) { high = middle; } else { low = middle + 1u; }
  }
  return low;
}

fn put_entry(sequence: u32, rank: u32, entry: Entry) {
  if (rank >= params.k) { return; }
  let at = sequence * row_words() + HEAD + rank * ENTRY;
  next[at] = key_word(entry.bits, 0u);
  next[at + KEY_WORDS - 1u] = key_word(entry.bits, KEY_WORDS - 1u);
  next[at + KEY_WORDS] = entry.id.x;
  next[at + KEY_WORDS + 1u] = entry.id.y;
}

fn run(workgroup: u32, local: u32) {
  let id = workgroup * WORKGROUP + local;
  let sequence = id / params.places;
  let at = id % params.places;
  if (sequence >= params.sequences) { return; }
  let row = sequence_offsets(sequence).z * row_words();
  let kept = state[row + 2u];
  let count = arriving(sequence);
  if (at >= params.k) {
    let i = at - params.k;
    if (i < count) {
      put_entry(sequence, i + kept_before(row, kept, arriving_key(sequence, i)), arriving_entry(sequence, i, row));
    }
    return;
  }
  // What stands beyond the pairs that are kept gives way to all that arrive.
  var earlier = count;
  if (at < kept) { earlier = arriving_before(sequence, key_of(bits_kept(row, at))); }
  put_entry(sequence, at + earlier, Entry(bits_kept(row, at), id_kept(row, at)));
  if (at == 0u) {
    var seen = vec2<u32>(params.advance, 0u);
#if FROM_STATE
    seen = vec2<u32>(other[other_row(sequence)], other[other_row(sequence) + 1u]);
#endif
    seen = sum_of(seen, vec2<u32>(state[row], state[row + 1u]));
    let to = sequence * row_words();
    next[to] = seen.x;
    next[to + 1u] = seen.y;
    next[to + 2u] = min(params.k, kept + count);
  }
}
