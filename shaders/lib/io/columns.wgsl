// Loads down columns: one brings an item of each of PER_LOAD adjacent sequences. And the best pair
// of each, kept as an invocation goes down the columns.
//   PER_LOAD     columns of a load
//   LOADS_WHOLE  1 where all of a load is theirs, else it is one element narrower than a word
//   IN_ORDER     1 where items come in ascending order of index: only keys are compared
#import io/input
#import order/pair

// A load's columns: the first of them, the flattened index of the batch's other dimensions, the
// sequence that they give, and whether there is such a load.
struct Columns { column: u32, outer: u32, sequence: u32, live: bool }

// Loads that bring one position of every sequence.
fn column_loads() -> u32 {
  let columns = params.batch[0].x;
  return params.sequences / columns * ((columns + PER_LOAD - 1u) / PER_LOAD);
}

fn columns_at(load: u32) -> Columns {
  let columns = params.batch[0].x;
  let loads = (columns + PER_LOAD - 1u) / PER_LOAD;
  let all = column_loads();
  let inside = min(load, all - 1u);
  let outer = inside / loads;
  let column = (inside - outer * loads) * PER_LOAD;
  return Columns(column, outer, outer * columns + column, load < all);
}

// As sequence_offsets, of the first column. Where it is the only dimension, `outer` is 0.
fn column_offsets(at: Columns) -> vec3<u32> {
  return offsets_along(1u, at.outer, first_offsets() + at.column * params.batch[0].yzw);
}

// Does a load have the column that lies so many further along?
fn has_column(at: Columns, further: u32) -> bool { return at.live & (at.column + further < params.batch[0].x); }

#if LOADS_WHOLE
fn load(offset: u32) -> InputLoad { return input[offset / PER_LOAD]; }
#if INPUT_WORDS == 1
fn load_word(data: u32, word: u32) -> u32 { return data; }
#else
fn load_word(data: InputLoad, word: u32) -> u32 { return data[word]; }
#endif
fn key_in(data: InputLoad, c: u32) -> Key {
  let word = word_of_element(c);
#if KEY_WORDS == 1
  return key_of(bits_in_word(load_word(data, word), c));
#else
  return key_of(Key(load_word(data, word + 1u), load_word(data, word)));
#endif
}
#else
fn load(offset: u32) -> Key { return element_at(offset); }
fn key_in(data: Key, c: u32) -> Key { return key_of(data); }
#endif

alias Bests = array<Pair, PER_LOAD>;

// At first; `index` is that of the first item, which stands where no key comes before the last one.
fn no_bests(index: u32) -> Bests {
  var bests: Bests;
#for c in PER_LOAD
  bests[$c] = Pair(LAST_KEY, index);
#endfor
  return bests;
}

fn better(candidate: Pair, best: Pair) -> Pair {
  return select_pair(best, candidate, select(before(candidate, best), key_less(candidate.key, best.key), IN_ORDER > 0u));
}
