// Radix sort, step 3 of 3: every pair to its place by this digit: source, counts, groups -> sink.
//
// A workgroup sorts its tile by the digit first, stably, so that neighbours are written together.
// It sorts words of the digit above the position. Keys and indices follow once, by position.
#import order/digit
#import io/pair_at
#import io/sink
#import io/tile_counts
#import workgroup/block_radix

const TILE: u32 = ITEMS_PER_THREAD * WORKGROUP;

alias Pairs = array<Pair, ITEMS_PER_THREAD>;

var<workgroup> starts: array<u32, BINS>;  // first rank, less its place in the sorted tile

// Neighbours read neighbouring items.
fn read_tile(row: Row, first: u32, local: u32) -> Pairs {
  var pairs: Pairs;
#for i in ITEMS_PER_THREAD
  pairs[$i] = pair_within(row, min(first + $iu * WORKGROUP + local, params.length - 1u));
#endfor
  return pairs;
}

// Blocked words. Past its `count` items the tile is filled with words that sort last.
fn words_of(sequence: u32, pairs: ptr<function, Pairs>, count: u32, local: u32) -> Words {
  var words: Words;
#for i in ITEMS_PER_THREAD
  words[$i] = select(BINS - 1u, digit_of(sequence, (*pairs)[$i]), $iu * WORKGROUP + local < count);
#endfor
  write_words(&words, striped(local));
  workgroupBarrier();
  words = read_words(blocked(local));
#for i in ITEMS_PER_THREAD
  words[$i] = (words[$i] << 16u) | (local * ITEMS_PER_THREAD + $iu);
#endfor
  return words;
}

// After all smaller digits of the sequence, and the same digit in earlier tiles.
fn find_starts(sequence: u32, tile: u32, local: u32) {
  var carry = 0u;
  for (var b = 0u; b < BINS; b += WORKGROUP) {
    let digit = min(b + local, BINS - 1u);
    let found = occurrences(sequence, tile, digit);
    let sums = scan(local, select(0u, found.total, b + local < BINS));
    if (b + local < BINS) { starts[digit] = carry + sums.exclusive + found.earlier - params.first_rank; }
    carry += sums.total;
  }
}

// Striped words in order -> the places of the digits' first ones are taken off `starts`.
fn subtract_places(words: ptr<function, Words>, local: u32) {
#for i in ITEMS_PER_THREAD
  {
    let slot = $iu * WORKGROUP + local;
    let digit = (*words)[$i] >> 16u;
    if (slot == 0u || room[place(max(slot, 1u) - 1u)] >> 16u != digit) { starts[digit] -= slot; }
  }
#endfor
}

fn pairs_at(row: Row, positions: ptr<function, Words>, pairs: ptr<function, Pairs>, first: u32, local: u32) -> Pairs {
  var found: Pairs;
  var words: Words;
#for w in PAIR_WORDS
#if $[KEY_WORDS + SOURCE_PAIRS] > $w
#for i in ITEMS_PER_THREAD
  words[$i] = word_of_pair((*pairs)[$i], $wu);
#endfor
  words = exchanged(&words, striped(local), positions, local);
#for i in ITEMS_PER_THREAD
  found[$i] = with_word(found[$i], $wu, words[$i]);
#endfor
#else
#for i in ITEMS_PER_THREAD
  found[$i].index = index_at(row, first + (*positions)[$i]);
#endfor
#endif
#endfor
  return found;
}

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.tiles >= params.sequences) { return; }
  let sequence = workgroup / params.tiles;
  let tile = workgroup % params.tiles;
  let first = tile * TILE;
  let count = min(TILE, params.length - first);
  let row = row_of(sequence);
  var pairs = read_tile(row, first, local);
  find_starts(sequence, tile, local);
  var words = words_of(sequence, &pairs, count, local);
  for (var shift = 16u; shift < 16u + params.digit_bits; shift += 4u) {
    var arrangement = blocked(local);
    if (shift + 4u >= 16u + params.digit_bits) { arrangement = striped(local); }
    radix_pass(&words, shift, arrangement, local);
  }
  subtract_places(&words, local);
  var positions: Words;
#for i in ITEMS_PER_THREAD
  positions[$i] = words[$i] & 0xffffu;
#endfor
  let sorted = pairs_at(row, &positions, &pairs, first, local);
  let to = target_of(sequence);
#for i in ITEMS_PER_THREAD
  {
    let slot = $iu * WORKGROUP + local;
    let rank = starts[words[$i] >> 16u] + slot;
    if ((slot < count) & (rank < params.ranks)) { put_to(to, rank, sorted[$i]); }
  }
#endfor
}
