// The first k items of every row, in order, by a radix sort in workgroup memory: source -> sink.
//
// A team of TEAM invocations sorts a row of up to TEAM * ITEMS_PER_THREAD items, stably by key, so
// that ties stay in order of index. It sorts words: PART bits of the key above INDEX_BITS bits of
// the position. Keys stay in the registers that read them. The next of the PARTS parts, from the
// least significant on, or the output is fetched by position.
//   DIGIT  bits of a digit; COUNTERS is half of its values
//   LOADS  of an invocation
//   FETCH  1 where the output has keys that are not in the last words
#import io/source
#import io/sink
#if NARROW
#import io/put_ranks
#endif
#import order/arithmetic
#import workgroup/block_radix
#import workgroup/teams

const KEY_BITS: u32 = 8u * ELEMENT_BYTES;
const INDEX_BITS: u32 = 14u;

alias Keys = array<Key, ITEMS_PER_THREAD>;

var<private> first_sequence: u32;  // of the workgroup

// A key's bits from `part * PART` up, counted from its lowest used bit.
fn part_of(key: Key, part: u32) -> u32 {
  let above = shifted_down(key, 32u * KEY_WORDS - KEY_BITS + part * PART);
  return key_word(above, KEY_WORDS - 1u) & (0xffffffffu >> (32u - PART));
}

// One load's words of keys to their places in memory.
fn place_load(row: Row, v: u32, data: Load, w: u32, home: u32) {
#for c in PER_LOAD
  {
    let position = v * PER_LOAD + $cu - row.skew;
    if (position < items_of(row)) { room[home + place(position)] = key_word(item(row, v, data, $cu).key, w); }
  }
#endfor
}

// Neighbours read neighbouring loads, which memory turns into consecutive items an invocation. A
// row that starts amid a load may need one load more than fill the team.
fn read_keys(row: Row, local: u32) -> Keys {
  let t = local % TEAM;
  var keys: Keys;
#for i in LOADS
  let load$i = load(row, min($iu * TEAM + t, row.loads - 1u));
#endfor
#for i in ITEMS_PER_THREAD
  keys[$i] = LAST_KEY;
#endfor
#for w in KEY_WORDS
  workgroupBarrier();
#for i in LOADS
  place_load(row, $iu * TEAM + t, load$i, $wu, home_of(local));
#endfor
  if (t == 0u && LOADS * TEAM < row.loads) { place_load(row, LOADS * TEAM, load(row, LOADS * TEAM), $wu, home_of(local)); }
  workgroupBarrier();
  let words$w = read_words(blocked(local));
#for i in ITEMS_PER_THREAD
  if (t * ITEMS_PER_THREAD + $iu < items_of(row)) { keys[$i] = with_key_word(keys[$i], $wu, words$w[$i]); }
#endfor
#endfor
  return keys;
}

fn positions_of(words: ptr<function, Words>) -> Words {
  var positions: Words;
#for i in ITEMS_PER_THREAD
  positions[$i] = (*words)[$i] & ((1u << INDEX_BITS) - 1u);
#endfor
  return positions;
}

// Puts the next part of the keys' bits above the positions.
fn set_part(words: ptr<function, Words>, keys: ptr<function, Keys>, part: u32, local: u32) {
  var positions = positions_of(words);
  var parts: Words;
#for i in ITEMS_PER_THREAD
  parts[$i] = part_of((*keys)[$i], part);
#endfor
  parts = exchanged(&parts, blocked(local), &positions, local);
#for i in ITEMS_PER_THREAD
  (*words)[$i] = (parts[$i] << INDEX_BITS) | positions[$i];
#endfor
}

// Blocked keys -> words in order, striped.
fn sort_words(keys: ptr<function, Keys>, local: u32) -> Words {
  var words: Words;
#for i in ITEMS_PER_THREAD
  words[$i] = (part_of((*keys)[$i], 0u) << INDEX_BITS) | (local % TEAM * ITEMS_PER_THREAD + $iu);
#endfor
  for (var part = 0u; part < PARTS; part++) {
    if (part > 0u) { set_part(&words, keys, part, local); }
    let end = INDEX_BITS + min(PART, KEY_BITS - part * PART);
    for (var shift = INDEX_BITS; shift < end; shift += DIGIT) {
      var arrangement = blocked(local);
      if (part == PARTS - 1u && shift + DIGIT >= end) { arrangement = striped(local); }
      radix_pass(&words, shift, arrangement, local);
    }
  }
  return words;
}

fn keys_of(words: ptr<function, Words>, keys: ptr<function, Keys>, local: u32) -> Keys {
  var sorted: Keys;
#if FETCH
  var positions = positions_of(words);
  var fetched: Words;
#for w in KEY_WORDS
#for i in ITEMS_PER_THREAD
  fetched[$i] = key_word((*keys)[$i], $wu);
#endfor
  fetched = exchanged(&fetched, blocked(local), &positions, local);
#for i in ITEMS_PER_THREAD
  sorted[$i] = with_key_word(sorted[$i], $wu, fetched[$i]);
#endfor
#endfor
#else
#for i in ITEMS_PER_THREAD
#if PARTS == 1
  sorted[$i] = ((*words)[$i] >> INDEX_BITS) << (32u - KEY_BITS);
#else
  sorted[$i] = LAST_KEY;  // indices alone are wanted
#endif
#endfor
#endif
  return sorted;
}

#if NARROW
// The last pass has left the words in order. A narrow key is one part, which they hold.
fn ranked(slot: u32, rank: u32) -> Pair {
  let word = room[slot * TEAM * COLUMN_ROOM + place(rank)];
  let row = row_of(first_sequence + slot);
  return Pair((word >> INDEX_BITS) << (32u - KEY_BITS), index_at(row, word & ((1u << INDEX_BITS) - 1u)));
}
#endif

fn run(workgroup: u32, local: u32) {
  let t = local % TEAM;
  first_sequence = workgroup * TEAMS;
  let sequence = first_sequence + local / TEAM;
  let row = row_of(min(sequence, params.sequences - 1u));
  var keys = read_keys(row, local);
  var words = sort_words(&keys, local);
#if NARROW
  put_ranks(first_sequence, min(max(params.sequences, first_sequence) - first_sequence, TEAMS), local);
#else
  let sorted = keys_of(&words, &keys, local);
  let positions = positions_of(&words);
  let to = target_of(sequence);
#for i in ITEMS_PER_THREAD
  if ((sequence < params.sequences) & ($iu * TEAM + t < params.k)) {
    put_to(to, $iu * TEAM + t, Pair(sorted[$i], index_at(row, positions[$i])));
  }
#endfor
#endif
}
