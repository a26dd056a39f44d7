// The first k pairs of every row, in order, by histograms of digits: source -> sink. A few reads.
//
// A workgroup serves a row. It counts the first digit of all items, and finds the k-th's bin. Where
// that has more items than the list has room for, the next digit of those is counted. What is up to
// the last bin found is listed, and sorted by buckets. Later reads mostly find a row in the cache.
//
// Counts of a sample come first, of one in params.every loads, if that is over 1. What they tell
// serves where at least k pairs are up to it, and no more than the list has room for: any such
// threshold gives the first k. It spares the counts of the whole row. A list in scratch takes none.
//   SPILLED  1 where the list is the sink's, of exactly k pairs in order of index
//   AGAIN    loads under way at once
#import io/source
#import io/sink
#import io/used_bits
#import order/bits
#import workgroup/prefixed_digit
#if !SPILLED
#import workgroup/sort_list
#import io/put_ranks

fn ranked(slot: u32, rank: u32) -> Pair { return pair_held(list[rank]); }

var<workgroup> listed: atomic<u32>;
#endif
var<workgroup> shared_length: u32;

fn passes(threshold: Pair, pair: Pair) -> bool { return !comes_first(threshold, pair) & (pair.index != NO_INDEX); }

fn count_load(row: Row, v: u32, data: Load, digit: Digit) {
#if PER_LOAD > 8
  // SwiftShader takes over 14 GB to compile a copy for each of so many items.
  for (var c = 0u; c < PER_LOAD; c++) { count_digit(item(row, v, data, c), digit); }
#else
#for c in PER_LOAD
  count_digit(item(row, v, data, $cu), digit);
#endfor
#endif
}

// Of one load in `every`.
fn count_row(row: Row, local: u32, every: u32, digit: Digit) {
  let step = WORKGROUP * every;
  for (var v = local * every; v < row.loads; v += AGAIN * step) {
#for u in AGAIN
    let data$u = load(row, min(v + $uu * step, row.loads - 1u));
#endfor
#for u in AGAIN
    if (v + $uu * step < row.loads) { count_load(row, v + $uu * step, data$u, digit); }
#endfor
  }
}

// The pair of a rank among one load in `every`, or one that is up to `slack` later.
fn threshold_of(row: Row, local: u32, every: u32, wanted: u32, slack: u32) -> Pair {
  var prefix = vec3<u32>();
  var rank = wanted;
  var word = 0u;
  var high = 32u;
  loop {
    let low = bits_of_word(word).x;
    let size = min(high - low, KTH_DIGIT);
    let digit = digit_at(word, high - size, size, prefix);
    count_row(row, local, every, digit);
    let bin = kth_bin(local, rank);
    rank -= bin.y;
    high -= size;
    let settled = bin.z - rank <= slack;
    let placed = (bin.x << high) | select(0u, ones(high), settled);
#for w in 3
    prefix[$w] |= select(select(0u, 0xffffffffu, settled && word < $wu), placed, word == $wu);
#endfor
    if (settled) { break; }
    if (high == low) {
      word++;
      if (word > KEY_WORDS) { break; }
      high = bits_of_word(word).y;
    }
  }
  return pair_from(prefix);
}

#if SPILLED

// Lists what is up to the threshold. Scans tell places: of the first loads of all, then the next.
fn list_row(sequence: u32, row: Row, local: u32, threshold: Pair) {
  if (local == 0u) { shared_length = row.loads; }
  let loads = workgroupUniformLoad(&shared_length);
  var first = 0u;
  for (var turn = 0u; turn < loads; turn += AGAIN * WORKGROUP) {
#for u in AGAIN
    let v$u = turn + $uu * WORKGROUP + local;
    let data$u = load(row, min(v$u, loads - 1u));
#endfor
#for u in AGAIN
    var passing$u = 0u;  // a bit an item
#for c in PER_LOAD
    passing$u |= select(0u, $[1 << c]u, v$u < loads && passes(threshold, item(row, v$u, data$u, $cu)));
#endfor
#endfor
#for u in AGAIN
#if 1 > $[u % 2]
    let scan$u = scan(local, countOneBits(passing$u) | (countOneBits(passing$[u + 1]) << 16u));
#endif
#endfor
#for u in AGAIN
    var place$u = first + ((scan$[u - u % 2].exclusive >> $[u % 2 * 16]u) & 0xffffu);
    first += (scan$[u - u % 2].total >> $[u % 2 * 16]u) & 0xffffu;
    for (var rest = passing$u; rest > 0u; rest &= rest - 1u) {
      if (place$u < params.k) { put(sequence, place$u, item(row, v$u, data$u, firstTrailingBit(rest))); }
      place$u++;
    }
#endfor
  }
}
#else

// Lists what is up to the threshold. An invocation asks for places for several loads together.
fn list_row(sequence: u32, row: Row, local: u32, threshold: Pair) {
  for (var v = local; v < row.loads; v += AGAIN * WORKGROUP) {
#for u in AGAIN
    let data$u = load(row, min(v + $uu * WORKGROUP, row.loads - 1u));
#endfor
    var passing = 0u;  // a bit an item
#for u in AGAIN
#for c in PER_LOAD
    let pair$[u]x$c = item(row, v + $uu * WORKGROUP, data$u, $cu);
    passing |= select(0u, $[1 << (u * PER_LOAD + c)]u, passes(threshold, pair$[u]x$c));
#endfor
#endfor
    if (passing != 0u) {
      var at = atomicAdd(&listed, countOneBits(passing));
#for u in AGAIN
#for c in PER_LOAD
      if ((passing & $[1 << (u * PER_LOAD + c)]u) != 0u) {
        if (at < PLACES) { list[at] = held_of(pair$[u]x$c); }
        at++;
      }
#endfor
#endfor
    }
  }
}
#endif

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let sequence = linear_workgroup(workgroup, grid);
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  kth_clear(local);
#if !SPILLED
  if (local == 0u) {
    atomicStore(&listed, 0u);
    shared_length = real_items(row);
  }
#endif
#if SPILLED
  workgroupBarrier();
  list_row(sequence, row, local, threshold_of(row, local, 1u, params.k, params.slack));
#else
  var threshold: Pair;
  var length: u32;
  // Of a short span the sample may have fewer items than the rank.
  let long = workgroupUniformLoad(&shared_length) >= 2u * PLACES;
  for (var sampled = params.every > 1u && long; ; sampled = false) {
    let of_sample = vec3<u32>(params.every, params.sample_rank, params.sample_slack);
    let asked = select(vec3<u32>(1u, params.k, params.slack), of_sample, sampled);
    threshold = threshold_of(row, local, asked.x, asked.y, asked.z);
    list_row(sequence, row, local, threshold);
    workgroupBarrier();
    if (local == 0u) {
      shared_length = atomicLoad(&listed);
      atomicStore(&listed, 0u);
    }
    length = workgroupUniformLoad(&shared_length);
    if (!sampled || (params.k <= length && length <= PLACES)) { break; }
  }
  sort_list(local, length, threshold);
  put_ranks(sequence, 1u, local);
#endif
}
