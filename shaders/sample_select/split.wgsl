// What is up to a threshold, by buckets: source -> pairs (a list a sequence), part_begins, lengths.
//
// Of a sequence's sample, a rank gives the threshold, and the pairs up to it give the splitters of
// buckets (Ribizel and Anzt, "Approximate and Exact Selection on GPUs", AsHES 2019). params.parts
// workgroups read a sequence. Each orders the sample by itself, as waiting for another would take
// longer, and puts what it finds at a place of its own, bucket after bucket. A list has
// params.places places. Nothing of a part that has no room is put.
//   SAMPLED    loads of an invocation's sample
//   TAKEN      items of each, APART from the next, as neighbours may be alike; ITEMS in all
//   BUCKETS    of a sequence, at most; it has params.buckets, a power of two
//   ROOM       pairs of the sample that there is room for
//   FOUND      pairs of the part that there is room for, ROOM and more
//   AGAIN      loads under way at once, of up to 32 items
#import io/source
#import thread/near_loads
#import workgroup/kth
#import workgroup/same
#import workgroup/collected
#import order/held
#import io/part_begins

const PHASE: u32 = 197u;
const LANES: u32 = 8u;  // Neighbours that share a line of memory. The next ones read far away.

@group(0) @binding(8) var<storage, read_write> pairs: array<Held>;  // [sequence][place]
// [sequence]: pairs of its list, and a word that is left alone. Zeros before.
@group(0) @binding(10) var<storage, read_write> lengths: array<atomic<u32>>;

// The ranks of the sample's pairs, and then places in the row of what is up to the threshold.
var<workgroup> found: array<atomic<u32>, FOUND>;
var<workgroup> slots: array<u32, FOUND>;  // the sample's pairs by rank, and then places of those
var<workgroup> splitters: array<Stored, BUCKETS + 1u>;
var<workgroup> bucket_places: array<atomic<u32>, BUCKETS>;
var<workgroup> begins: array<u32, BUCKETS + 1u>;
var<workgroup> found_count: atomic<u32>;

fn nth_load(n: u32) -> u32 { return n; }

fn found_by_all(local: u32) -> u32 {
  workgroupBarrier();
  if (local == 0u) {
    shared_word = atomicLoad(&found_count);
    atomicStore(&found_count, 0u);
  }
  return workgroupUniformLoad(&shared_word);
}

// A load from each of the sample's stretches: not the same place, as rows have patterns. Those of
// an invocation are of different phases, wherever a row has periods.
fn sampled_load(local: u32, i: u32) -> u32 {
  let number = i * WORKGROUP + (local + i * PHASE) % WORKGROUP;
  return number * params.every + ((number * 0x9e3779b1u) >> 16u) % params.every;
}

// Collects the sample's first items, as many as params.sample_rank or more. Returns how many.
//
// It is what is up to the best items of as many invocations. Those may have many more up to it:
// then fewer invocations' bests are taken.
fn collect_sample(row: Row, local: u32, short: bool) -> u32 {
  var items: array<Pair, ITEMS>;
  var bests = Items(last_pair());
#for i in SAMPLED
  let v$i = sampled_load(local, $iu);
  let data$i = load(row, min(v$i, row.loads - 1u));
#endfor
#for i in SAMPLED
#for t in TAKEN
  items[$[i * TAKEN + t]] = item(row, v$i, data$i, $[t * APART]u);
  if (before(items[$[i * TAKEN + t]], bests[0])) { bests[0] = items[$[i * TAKEN + t]]; }
#endfor
#endfor
  var rank = params.sample_rank;
  if (short) {  // Fewer invocations may have an item of the sample.
    if (bests[0].index != NO_INDEX) { atomicAdd(&found_count, 1u); }
    rank = min(rank, found_by_all(local));
  }
  var count = 0u;
  // No other way out, as barriers wait for the answer (docs/driver-bugs.md).
  for (var turn = 0u; turn < select(0u, 2u, rank > 0u); turn++) {
    let last = kth_of(&bests, local, rank, 0u);
    var near = 0u;  // a bit an item
#for i in ITEMS
    near |= select(0u, $[1 << i]u, passes(last, items[$i]));
#endfor
    if (near != 0u) {
      var at = atomicAdd(&found_count, countOneBits(near));
#for i in ITEMS
      if ((near & $[1 << i]u) != 0u) {
        if (at < ROOM) { collected[at] = store_of(items[$i]); }
        at++;
      }
#endfor
    }
    count = found_by_all(local);
    if (count <= ROOM) { break; }
    rank = max(1u, 2u * rank * rank / count);
  }
  return count;
}

// Finds the splitters by the ranks of the sample's pairs: that of the last bucket, of rank `last`,
// is the threshold. The last of all pairs comes behind. All call it together.
fn split(local: u32, count: u32, last: u32) {
  end_collected(local, count);
  for (var own = local; own < count; own += WORKGROUP) { atomicStore(&found[own], 0u); }
  workgroupBarrier();
  // Several invocations count for each, where they are few.
  let size = max(1u, WORKGROUP / max(count, 1u));
  for (var own = local / size; own < count; own += WORKGROUP / size) {
    atomicAdd(&found[own], count_collected(count, pair_of(collected[own]), local % size, size));
  }
  workgroupBarrier();
  for (var own = local; own < count; own += WORKGROUP) { slots[atomicLoad(&found[own])] = own; }
  workgroupBarrier();
  if (local <= params.buckets) {
    var rank = max((local + 1u) * last / params.buckets, 1u);
    if (local == params.buckets) { rank = count; }
    splitters[local] = store_of(last_pair());
    if (count > 0u) { splitters[local] = collected[slots[rank - 1u]]; }
  }
  workgroupBarrier();
}

// The number of splitters before a pair. The last splitter is the threshold.
fn bucket_of(pair: Pair) -> u32 {
  var bucket = 0u;
  for (var step = params.buckets / 2u; step > 0u; step /= 2u) {
    bucket += select(0u, step, before(pair_of(splitters[bucket + step - 1u]), pair));
  }
  return bucket;
}

// Collects what is up to the threshold in this workgroup's part. Returns how many.
fn read_part(row: Row, part: u32, local: u32, threshold: Pair) -> u32 {
  let limit = limit_of(row, threshold);
  let stripe = local / LANES;  // In another order each: a period falls to many parts.
  let first = (stripe * params.parts + (part + stripe) % params.parts) * LANES + local % LANES;
  let step = WORKGROUP * params.parts;
  for (var v = first; v < row.loads; v += AGAIN * step) {
    var near = near_in_loads(row, v, step, limit);
    if (near == 0u) { continue; }
    var at = atomicAdd(&found_count, countOneBits(near));
    for (; near != 0u; near &= near - 1u) {
      if (at < FOUND) { atomicStore(&found[at], place_of_first(near)); }
      at++;
    }
  }
  return found_by_all(local);
}

// Puts what was found by buckets. Where there is no room for all, nothing.
fn put_found(sequence: u32, part: u32, row: Row, local: u32, count: u32) {
  if (local < BUCKETS) { atomicStore(&bucket_places[local], 0u); }
  if (local == 0u) { shared_word = atomicAdd(&lengths[2u * sequence], select(count, params.places + 1u, count > FOUND)); }
  let begin = workgroupUniformLoad(&shared_word);
  if (count > FOUND || begin + count > params.places) { return; }
  // A pair's bucket, and its place there.
  for (var i = local; i < count; i += WORKGROUP) {
    let bucket = bucket_of(near_pair(row, atomicLoad(&found[i])));
    slots[i] = bucket + BUCKETS * atomicAdd(&bucket_places[bucket], 1u);
  }
  workgroupBarrier();
  if (local <= params.buckets) {
    var end = begin;
    for (var b = 0u; b < local; b++) { end += atomicLoad(&bucket_places[b]); }
    begins[local] = end;
    part_begins[(sequence * params.parts + part) * (params.buckets + 1u) + local] = end;
  }
  workgroupBarrier();
  for (var i = local; i < count; i += WORKGROUP) {
    let place = begins[slots[i] % BUCKETS] + slots[i] / BUCKETS;
    pairs[sequence * params.places + place] = held_of(near_pair(row, atomicLoad(&found[i])));
  }
}

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  if (local == 0u) { atomicStore(&found_count, 0u); }
  let short = 4u * same_for_all(local, real_items(row)) < 5u * params.sample_rank * params.every * PER_LOAD;
  let sampled = collect_sample(row, local, short);
  split(local, min(sampled, ROOM), min(sampled, params.sample_rank));
  if (part == 0u && local <= params.buckets) { keep_splitter(sequence, local, splitters[local]); }
  // Which of too many are collected differs from workgroup to workgroup. The list stays empty then.
  if (short || sampled < params.sample_rank || sampled > ROOM) { return; }
  let threshold = pair_of(splitters[params.buckets - 1u]);
  put_found(sequence, part, row, local, read_part(row, part, local, threshold));
}
