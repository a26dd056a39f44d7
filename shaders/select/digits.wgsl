// The first k pairs of every row, in order, by histograms of digits: source -> sink. A few reads.
//
// A workgroup serves a row. It counts the first digit of all items, and finds the k-th's bin. Where
// that has more items than the list has room for, the next digit of those is counted. What is up to
// the last bin found is listed, and sorted by buckets. Later reads mostly find a row in the cache.
//
// A sample of one in params.every items comes first, but for short rows. Its threshold serves where
// at least k pairs are up to it, and no more than the list has room for. Else the sample tells one
// more, from how many there are.
//   SPILLED  1 where the list is the sink's, in order of index; of k pairs, but after a sample
//   PLACES   of a list in workgroup memory, which is sorted there
//   SAMPLED  loads of an invocation's sample, one in params.stride; 0 without a sample
//   SAMPLED_ITEMS  of each of those loads; EACH in all
//   AGAIN    loads under way at once where items are listed, of up to 32 items
#import io/source
#import io/sink
#import workgroup/kth_of_row
#import workgroup/same
#if SPILLED
#import thread/near
#import workgroup/scan
#if SAMPLED > 0
@group(0) @binding(6) var<storage, read_write> lengths: array<u32>;  // [sequence]: of its list
#endif
#else
#import thread/list_near
#import workgroup/sort_list
#import io/put_ranks

fn ranked(slot: u32, rank: u32) -> Pair { return pair_held(list[rank]); }

var<workgroup> listed: atomic<u32>;
#endif

// Pairs of a list for which there is room.
#if SPILLED
fn places() -> u32 { return params.places; }
#else
fn places() -> u32 { return PLACES; }
#endif

#if SPILLED

// Lists what is up to a threshold in order of index, by scans: of the first loads of all
// invocations, then of the next. What has no place is only counted. Returns how many. All call it
// together.
fn list_in_order(sequence: u32, row: Row, local: u32, threshold: Pair) -> u32 {
  let loads = same_for_all(local, row.loads);
  let limit = limit_of(row, threshold);
  var first = 0u;
  for (var turn = 0u; turn < loads; turn += AGAIN * WORKGROUP) {
#for u in AGAIN
    let v$u = turn + $uu * WORKGROUP + local;
    let data$u = load(row, min(v$u, loads - 1u));
#endfor
#for u in AGAIN
    let near$u = near_in(row, v$u, data$u, limit);  // a bit an item
#endfor
#for u in AGAIN
#if 1 > $[u % 2]
    let scan$u = scan(local, countOneBits(near$u) | (countOneBits(near$[u + 1]) << 16u));
#endif
#endfor
#for u in AGAIN
    var place$u = first + ((scan$[u - u % 2].exclusive >> $[u % 2 * 16]u) & 0xffffu);
    first += (scan$[u - u % 2].total >> $[u % 2 * 16]u) & 0xffffu;
    for (var rest = near$u; rest > 0u; rest &= rest - 1u) {
      if (place$u < params.places) { put(sequence, place$u, item(row, v$u, data$u, firstTrailingBit(rest))); }
      place$u++;
    }
#endfor
  }
  // A list that a later threshold fills anew is written after this one.
  storageBarrier();
  return same_for_all(local, first);
}
#else

fn nth_load(n: u32) -> u32 { return n; }
fn reserve(sequence: u32, count: u32) -> u32 { return atomicAdd(&listed, count); }
fn enlist(sequence: u32, place: u32, pair: Pair) {
  if (place < PLACES) { list[place] = held_of(pair); }
}

// Lists what is up to a threshold, in any order. Returns how many. All call it together.
fn list_any(row: Row, local: u32, threshold: Pair) -> u32 {
  let limit = limit_of(row, threshold);
  for (var v = local; v < row.loads; v += AGAIN * WORKGROUP) { list_near(0u, row, v, WORKGROUP, limit); }
  workgroupBarrier();
  if (local == 0u) {
    shared_word = atomicLoad(&listed);
    atomicStore(&listed, 0u);
  }
  return workgroupUniformLoad(&shared_word);
}
#endif

#if SAMPLED > 0
#import workgroup/kth

// A threshold from one load in params.stride: an invocation holds SAMPLED of them, or one half of
// each. Neighbours hold different halves, as neighbouring items may be of different kinds.
fn sampled_threshold(row: Row, local: u32, rank: u32) -> Pair {
  var items: Items;
  let odd = local % 2u == 1u;
#for i in SAMPLED
  let v$i = (local + $iu * WORKGROUP) * params.stride;
  let data$i = load(row, min(v$i, row.loads - 1u));
#endfor
#for i in SAMPLED
#for c in SAMPLED_ITEMS
#if SAMPLED_ITEMS == PER_LOAD
  items[$[i * SAMPLED_ITEMS + c]] = item(row, v$i, data$i, $cu);
#else
  items[$[i * SAMPLED_ITEMS + c]] = select_pair(item(row, v$i, data$i, $cu), item(row, v$i, data$i, $[c + SAMPLED_ITEMS]u), odd);
#endif
#endfor
#endfor
  return kth_of(&items, local, rank, params.sample_slack);
}
#endif

fn run(sequence: u32, local: u32) {
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  kth_clear(local);
#if !SPILLED
  if (local == 0u) { atomicStore(&listed, 0u); }
#endif
  var threshold: Pair;
  var length: u32;
  // Of a short span the sample may have fewer items than the rank.
  let long = same_for_all(local, real_items(row)) >= 2u * places();
  var sampled = params.every > 1u && long;
  var rank = params.sample_rank;
  for (var turn = 0u; ; turn++) {
#if SAMPLED > 0
    if (sampled) { threshold = sampled_threshold(row, local, rank); }
#endif
    if (!sampled) { threshold = kth_of_row(row, local, params.k, params.slack); }
#if SPILLED
    length = list_in_order(sequence, row, local, threshold);
#else
    length = list_any(row, local, threshold);
#endif
    if (!sampled || (params.k <= length && length <= places())) { break; }
    // How far it is off tells a rank that hardly misleads. Where too many are listed, each of the
    // sample's stands for more than it should. Where too few are, those that follow are as ever.
    let told = length / params.every;
    rank = select(max(1u, rank * rank / max(told, 1u)), 2u * rank - told, told < rank);
    sampled = turn == 0u;
  }
#if SPILLED && SAMPLED > 0
  if (local == 0u) { lengths[sequence] = length; }
#endif
#if !SPILLED
  sort_list(local, length, params.k);
  put_ranks_of_one(sequence, 0u, params.k, local);
#endif
}
