// Radix sort, step 3 of 3, by subgroups: every pair to its place: source, counts, groups -> sink.
//
// A workgroup sorts its tile by the digit first, stably, so that neighbours are written together.
// Ballots rank an item among those of its warp with its digit, as in Onesweep (Adinets and Merrill,
// 2022). A counter a warp and digit tells how many other warps have before it.
#import order/digit
#import io/pair_at
#import io/sink
#import io/tile_counts
#import subgroup/warps

const TILE: u32 = ITEMS_PER_THREAD * WORKGROUP;
const HALF_BINS: u32 = BINS / 2u;  // counters of 16 bits, digits d and d + HALF_BINS in a word
const ROWS: u32 = 16u;             // warps that are counted at a time: all, but for small subgroups
const WARP_SUMS: u32 = ROWS * HALF_BINS;
const ROOM: u32 = max(TILE, WARP_SUMS + 2u * WORKGROUP);

alias Pairs = array<Pair, ITEMS_PER_THREAD>;
alias Words = array<u32, ITEMS_PER_THREAD>;

var<workgroup> room: array<atomic<u32>, ROOM>;      // counters [warp][digit], sums; then items
var<workgroup> tile_starts: array<u32, HALF_BINS>;  // where digits start in the tile, as halves
var<workgroup> starts: array<u32, BINS>;            // a digit's first rank, less its place in tile

fn tile_start(digit: u32) -> u32 { return (tile_starts[digit % HALF_BINS] >> (digit / HALF_BINS * 16u)) & 0xffffu; }

// The place in the tile of an invocation's item: neighbours read side by side, warps in runs.
fn item_place(warp: Warp, i: u32) -> u32 { return warp.first * ITEMS_PER_THREAD + i * warp.lanes + warp.lane; }

fn read_tile(row: Row, first: u32, warp: Warp) -> Pairs {
  var pairs: Pairs;
#for i in ITEMS_PER_THREAD
  pairs[$i] = pair_within(row, min(first + item_place(warp, $iu), params.length - 1u));
#endfor
  return pairs;
}

// The digits, in the high halves. Words past the tile's `count` items sort last. Ranks join below,
// as they become known: with few registers many workgroups share a processor.
fn words_of(sequence: u32, pairs: ptr<function, Pairs>, count: u32, warp: Warp) -> Words {
  var words: Words;
#for i in ITEMS_PER_THREAD
  words[$i] = select(BINS - 1u, digit_of(sequence, (*pairs)[$i]), item_place(warp, $iu) < count) << 16u;
#endfor
  return words;
}

// Counts the digits of ROWS warps from `start` on. Each word gets its rank within its warp.
fn count_digits(words: ptr<function, Words>, warp: Warp, start: u32, wide: bool) {
  let mine = warp.number >= start && warp.number < start + ROWS;
  let counters = (warp.number - start) * HALF_BINS;
#for i in ITEMS_PER_THREAD
  {
    let digit = (*words)[$i] >> 16u;
    let half = digit / HALF_BINS * 16u;
    let peers = match_any(digit, warp, wide);
    let exclusive = countOneBits(peers & warp.earlier);
    var counted = 0u;
    if (mine & (exclusive == 0u)) {
      counted = atomicAdd(&room[counters + digit % HALF_BINS], countOneBits(peers) << half);
    }
    let earlier = from_leader(counted, peers, warp);
    if (mine) { (*words)[$i] += exclusive + ((earlier >> half) & 0xffffu); }
  }
#endfor
}

// Sums two digits' counters over the warps, in place, from `counted` on. Returns the totals.
fn sum_rows(digit: u32, counted: u32) -> u32 {
  var sum = counted;
#for r in 16
  let row$r = atomicLoad(&room[$ru * HALF_BINS + digit]);
#endfor
#for r in 16
  atomicStore(&room[$ru * HALF_BINS + digit], sum);
  sum += row$r;
#endfor
  return sum;
}

// Ranks each word among the tile's with its digit. Returns the counts of two digits, from `place`.
fn rank_words(words: ptr<function, Words>, warp: Warp, warps: u32, wide: bool, local: u32) -> u32 {
  let place = warp.first + warp.lane;
  var counted = 0u;
  for (var start = 0u; start < warps; start += ROWS) {
    if (start > 0u) { workgroupBarrier(); }
    for (var b = local; b < ROWS * HALF_BINS; b += WORKGROUP) { atomicStore(&room[b], 0u); }
    workgroupBarrier();
    count_digits(words, warp, start, wide);
    workgroupBarrier();
    if (place < HALF_BINS) { counted = sum_rows(place, counted); }
    workgroupBarrier();
    if (warp.number >= start && warp.number < start + ROWS) {
      let counters = (warp.number - start) * HALF_BINS;
#for i in ITEMS_PER_THREAD
      (*words)[$i] += (atomicLoad(&room[counters + ((*words)[$i] >> 16u) % HALF_BINS]) >> (((*words)[$i] >> 23u) * 16u)) & 0xffffu;
#endfor
    }
  }
  return counted;
}

// The pairs in order of their words, a word of each at a time. Elements' indices are positions.
fn sorted(pairs: ptr<function, Pairs>, words: ptr<function, Words>, warp: Warp, local: u32) -> Pairs {
  var found: Pairs;
#for i in ITEMS_PER_THREAD
  let rank$i = ((*words)[$i] & 0xffffu) + tile_start((*words)[$i] >> 16u);
#endfor
#for w in PAIR_WORDS
#for i in ITEMS_PER_THREAD
  atomicStore(&room[rank$i], select(word_of_pair((*pairs)[$i], $wu), item_place(warp, $iu), $wu == KEY_WORDS && SOURCE_PAIRS == 0u));
#endfor
  workgroupBarrier();
#for i in ITEMS_PER_THREAD
  found[$i] = with_word(found[$i], $wu, atomicLoad(&room[$iu * WORKGROUP + local]));
#endfor
  workgroupBarrier();
#endfor
  return found;
}

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.tiles >= params.sequences) { return; }
  let sequence = workgroup / params.tiles;
  let tile = workgroup % params.tiles;
  let first = tile * TILE;
  let count = min(TILE, params.length - first);
  let warp = warp_of(local);
  let row = row_of(sequence);
  var pairs = read_tile(row, first, warp);
  let place = warp.first + warp.lane;  // the order of sums
  var found = Occurrences();
  if (place < BINS) { found = occurrences(sequence, tile, place); }
  var words = words_of(sequence, &pairs, count, warp);
  let facts = workgroupUniformLoad(&warp_facts);
  let counted = rank_words(&words, warp, facts / 2u, facts % 2u > 0u, local);
  let sums = warp_scan(warp, vec2<u32>(found.total, counted), facts / 2u);
  // The low halves all come before the high ones.
  if (place < HALF_BINS) { tile_starts[place] = sums.exclusive.y + (sums.total.y << 16u); }
  workgroupBarrier();
  // A digit starts after all smaller ones, and after itself in earlier tiles.
  if (place < BINS) { starts[place] = sums.exclusive.x + found.earlier - tile_start(place) - params.first_rank; }
  let out = sorted(&pairs, &words, warp, local);
  let to = target_of(sequence);
#for i in ITEMS_PER_THREAD
  {
    let slot = $iu * WORKGROUP + local;
    var pair = out[$i];
#if !SOURCE_PAIRS
    pair.index = index_at(row, first + pair.index);
#endif
    let rank = starts[digit_of(sequence, pair)] + slot;
    if ((slot < count) & (rank < params.ranks)) { put_to(to, rank, pair); }
  }
#endfor
}
