// Buckets of pairs, each as many places of the list as it has pairs.
//
// Bins part the range of all pairs' numbers. Where one is crowded, each deals its pairs out over as
// many places as it has, by where they lie in its own range, so that exponents do not matter
// (Neubert, "The Flashsort1 algorithm", Dr. Dobb's Journal, 1998). A bin with over a quarter, as
// of equal keys, deals them out by the range of the first word of theirs that differs. So do all
// buckets that more than FULLEST still share, again until few share one: outliers take a turn more.
//   CARRIED  pairs of an invocation, up to 16, which stay in its registers
#import workgroup/bins
#import workgroup/list

const CROWDED: u32 = 16u;  // More take longer to count among each other than to deal out.
const FULLEST: u32 = 64u;
// A fuller bucket begins in a slot of its own.
const SLOTS: u32 = (min(PLACES, CARRIED * WORKGROUP) + FULLEST - 1u) / FULLEST;
const WORDS: u32 = KEY_WORDS + 1u;  // of a pair
const SCALE: u32 = 31u - KTH_DIGIT;

alias Carried = array<Held, CARRIED>;
alias Numbers = array<u32, CARRIED>;

var<workgroup> fullest: atomic<u32>;
// The range of first words, and then pairs of the fullest bin, and of all.
var<workgroup> shared_counts: vec2<u32>;

fn is_carried(held: Held) -> bool { return pair_held(held).index != NO_INDEX; }

// What pairs differ in, most significant first. Narrow keys, which are few, have their indices
// behind them in one word.
fn ordered_words(held: Held) -> vec3<u32> {
  let pair = pair_held(held);
  let words = words_of(pair);
#if 4 > $[ELEMENT_BYTES]
  let below = $[32 - 8 * ELEMENT_BYTES]u;  // a key's last bits
  let bits = min(params.index_bits, below);
  let index = (pair.index & ones(params.index_bits)) >> (params.index_bits - bits);
  return vec3<u32>(((words.x >> below) << bits) | index, words.yz);
#else
  return words;
#endif
}

fn begin_of(bounds: u32) -> u32 { return bounds & 0xffffu; }
fn end_of(bounds: u32) -> u32 { return bounds >> 16u; }

// Whether a bucket of the first ranks has more than so many pairs.
fn is_full(bounds: u32, ranks: u32, most: u32) -> bool { return end_of(bounds) > begin_of(bounds) + most && begin_of(bounds) < ranks; }

// The range of each word of a slot's pairs, the least and the complement of the largest, and then
// what tells their places, is in `scan_words`, whose sums are not needed meanwhile.
fn range_at(slot: u32, word: u32) -> u32 { return 2u * (WORDS * slot + word); }

fn clear_ranges(local: u32) {
  for (var i = local; i < range_at(SLOTS, 0u); i += WORKGROUP) { atomicStore(&scan_words[i], 0xffffffffu); }
  workgroupBarrier();
}

fn widen_range(slot: u32, word: u32, least: u32, largest: u32) {
  atomicMin(&scan_words[range_at(slot, word)], least);
  atomicMin(&scan_words[range_at(slot, word) + 1u], ~largest);
}

// Ranges become scales: the least of the first word that differs, the share of a step in 2^31, and
// how far numbers are shifted to be steps, below which word it is. All call it together.
fn set_scales(local: u32) {
  workgroupBarrier();
  if (local < SLOTS) {
    var scale = vec3<u32>();
    for (var w = WORDS; w > 0u; w--) {
      let at = range_at(local, w - 1u);
      let least = atomicLoad(&scan_words[at]);
      let largest = ~atomicLoad(&scan_words[at + 1u]);
      if (least < largest) {
        let shift = 16u - min(countLeadingZeros(largest - least), 16u);
        scale = vec3<u32>(least, 0x80000000u / (((largest - least) >> shift) + 1u), shift | ((w - 1u) << 8u));
      }
    }
#for i in 3
    atomicStore(&scan_words[range_at(local, 0u) + $iu], scale[$i]);
#endfor
  }
  workgroupBarrier();
}

// The place of a pair among those of its bucket, about, but for the last `spare` places.
fn place_in(bounds: u32, spare: u32, words: vec3<u32>) -> u32 {
  let at = range_at(begin_of(bounds) / FULLEST, 0u);
  let word = atomicLoad(&scan_words[at + 2u]);
  let step = (word_of(words, word >> 8u) - atomicLoad(&scan_words[at])) >> (word & 31u);
  let share = (step * atomicLoad(&scan_words[at + 1u])) >> 15u;  // of 2^16
  return begin_of(bounds) + ((share * (end_of(bounds) - begin_of(bounds) - spare)) >> 16u);
}

// Counts of bins become their beginnings. Returns the most pairs of a bin of the first ranks (x),
// or 0 where none is crowded, and how many pairs there are.
fn begin_bins(local: u32, ranks: u32) -> vec2<u32> {
  workgroupBarrier();
  if (local == 0u) { atomicStore(&fullest, 0u); }
  var own = own_bins(local);
  var begin = before_bins(local, &own);
  var most = 0u;
#for b in KTH_EACH
  atomicStore(&kth_bins[local * KTH_EACH + $bu], begin);
  most = max(most, select(0u, own[$b], begin < ranks));
  begin += own[$b];
#endfor
  if (most > CROWDED) { atomicMax(&fullest, most); }
  workgroupBarrier();
  if (local == WORKGROUP - 1u) { shared_counts = vec2<u32>(atomicLoad(&fullest), begin); }
  return workgroupUniformLoad(&shared_counts);
}

// Where a bin begins, or the pairs end: of `length` some may be nothing.
fn bin_begin(bin: u32) -> u32 {
  if (bin == KTH_BINS) { return shared_counts.y; }
  return atomicLoad(&kth_bins[bin]);
}

// Lists the pairs carried, up to `length`, by buckets. Returns the bounds of each one's: where it
// begins and, in the high half, where it ends. All invocations call it together, with empty bins,
// which it does not leave, and after a barrier.
fn list_by_buckets(local: u32, length: u32, ranks: u32, carried: ptr<function, Carried>) -> Numbers {
  var bounds: Numbers;
  var places: Numbers;
  let scale = (KTH_BINS << SCALE) / max(length, 1u);
  // A bin has fewer places: buckets that are dealt out leave so many, lest they meet the next one.
  let spare = length / KTH_BINS + 1u;
  clear_ranges(local);
  var first = 0xffffffffu;
  var last = 0u;
#for c in CARRIED
  bounds[$c] = length << 16u;
  if (is_carried((*carried)[$c])) {
    let word$c = ordered_words((*carried)[$c]).x;
    first = min(first, word$c);
    last = max(last, word$c);
  }
#endfor
  if (first <= last) { widen_range(0u, 0u, first, last); }
  workgroupBarrier();
  if (local == 0u) { shared_counts = vec2<u32>(atomicLoad(&scan_words[0]), ~atomicLoad(&scan_words[1])); }
  let range = workgroupUniformLoad(&shared_counts);
  let least = range.x;
  let shift = min(countLeadingZeros(range.y - least), 31u);
  var most = FULLEST;  // Of more pairs a bucket's own range tells, where any has more.
  // Pairs alike in their first word are one bucket to begin with.
  for (var turn = select(0u, 1u, range.x == range.y); ; turn++) {
    if (turn > 0u) { kth_clear(local); }
    if (turn > 0u && most < PLACES) {
      clear_ranges(local);
#for c in CARRIED
      if (is_carried((*carried)[$c]) & is_full(bounds[$c], ranks, most)) {
        let words$c = ordered_words((*carried)[$c]);
        for (var w = 0u; w < WORDS; w++) {
          widen_range(begin_of(bounds[$c]) / FULLEST, w, word_of(words$c, w), word_of(words$c, w));
        }
      }
#endfor
      set_scales(local);
    } else if (turn > 0u) {
      workgroupBarrier();
    }
#for c in CARRIED
    if (is_carried((*carried)[$c])) {
      let words$c = ordered_words((*carried)[$c]);
      let number$c = (words$c.x - least) << shift;
      var bin$c = number$c >> (32u - KTH_DIGIT);
      if (turn > 0u) {
        var place$c = begin_of(bounds[$c]);
        if (is_full(bounds[$c], ranks, most)) {
          place$c = place_in(bounds[$c], spare, words$c);
        } else if (turn == 1u) {
          place$c += (((number$c << KTH_DIGIT) >> 16u) * (end_of(bounds[$c]) - place$c)) >> 16u;
        }
        bin$c = (place$c * scale) >> SCALE;
      }
      bounds[$c] = bin$c;
      places[$c] = atomicAdd(&kth_bins[bin$c], 1u);
    }
#endfor
    let counts = begin_bins(local, ranks);
#for c in CARRIED
    if (is_carried((*carried)[$c])) {
      bounds[$c] = bin_begin(bounds[$c]) | (bin_begin(bounds[$c] + 1u) << 16u);
      list[begin_of(bounds[$c]) + places[$c]] = (*carried)[$c];
    }
#endfor
    workgroupBarrier();
    if (counts.x <= select(FULLEST + spare, CROWDED, turn == 0u)) { break; }
    most = FULLEST;
    if (turn == 0u) { most = select(PLACES, max(FULLEST, counts.y / 4u), counts.x > counts.y / 4u); }
  }
  return bounds;
}
