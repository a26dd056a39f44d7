// The first k of each list of pairs, in order, by a sample sort: source -> sink.
//
// params.parts workgroups serve a list. All of them order the same sample, whose splitters cut the
// list into parts of about one size (Frazer and McKellar, "Samplesort: A Sampling Approach to
// Minimal Storage Tree Sorting", Journal of the ACM 17(3), 1970). Each counts the pairs that
// precede its part, collects those in it, and places them by counting. A part that outgrows its
// room is taken in pieces.
//   ROOM  pairs that a workgroup collects, at least WORKGROUP; a multiple of eight
#import io/source
#import io/sink
#import workgroup/collected
#import workgroup/same

var<workgroup> places: array<atomic<u32>, WORKGROUP>;
var<workgroup> collected_count: atomic<u32>;
var<workgroup> earlier_count: atomic<u32>;
var<workgroup> shared_counts: vec2<u32>;
var<workgroup> shared_low: Stored;
var<workgroup> shared_high: Stored;

// The number of pairs collected that precede the one that an invocation has: of the `size` first
// ones, a power of two. Several invocations count for each. All invocations call it together.
fn place_of_own(local: u32, count: u32, size: u32) -> u32 {
  atomicStore(&places[local], 0u);
  workgroupBarrier();
  let own = local & (size - 1u);
  atomicAdd(&places[own], count_collected(count, pair_of(collected[own]), local / size, WORKGROUP / size));
  workgroupBarrier();
  return atomicLoad(&places[own]);
}

const EACH: u32 = 4u;  // Pairs of the sample for each part: parts of four times the size are rare.

// A pair from each stretch of the list: not the same place, as lists have patterns. They are as
// many as the sample has pairs, a power of two.
fn sampled_at(number: u32, length: u32, sample: u32) -> u32 {
  let shift = firstTrailingBit(sample);
  let begin = (number * length) >> shift;
  let size = max((((number + 1u) * length) >> shift) - begin, 1u);
  return begin + ((number * 0x9e3779b1u) >> 16u) % size;
}

// The bounds of a part: the sample's pairs at its ranks, or what precedes or follows all pairs.
fn find_bounds(local: u32, row: Row, length: u32, part: u32) {
  let sample = EACH * params.parts;  // up to WORKGROUP
  if (local < sample) { collected[local] = store_of(load(row, sampled_at(local, length, sample))); }
  if (local == 0u) {
    shared_low = Stored(0u);
    shared_high = store_of(last_pair());
  }
  workgroupBarrier();
  let rank = place_of_own(local, sample, sample);
  if (local < sample && rank == part * EACH && part > 0u) { shared_low = collected[local]; }
  if (local < sample && rank == (part + 1u) * EACH) { shared_high = collected[local]; }
  workgroupBarrier();
}

fn collect(there: bool, pair: Pair, low: Pair, high: Pair) -> u32 {
  let precedes = before(pair, low);
  if (there & !precedes & before(pair, high)) {
    let at = atomicAdd(&collected_count, 1u);
    if (at < ROOM) { collected[at] = store_of(pair); }
  }
  return select(0u, 1u, there & precedes);
}

// Collects what lies between two pairs. Returns how many precede it, and how many it is.
fn collect_between(local: u32, row: Row, length: u32, low: Pair, high: Pair) -> vec2<u32> {
  if (local == 0u) {
    atomicStore(&collected_count, 0u);
    atomicStore(&earlier_count, 0u);
  }
  workgroupBarrier();
  var earlier = 0u;
  for (var at = local; at < length; at += 8u * WORKGROUP) {
#for u in 8
    let pair$u = load(row, min(at + $uu * WORKGROUP, length - 1u));
#endfor
#for u in 8
    earlier += collect(at + $uu * WORKGROUP < length, pair$u, low, high);
#endfor
  }
  if (earlier > 0u) { atomicAdd(&earlier_count, earlier); }
  workgroupBarrier();
  if (local == 0u) { shared_counts = vec2<u32>(atomicLoad(&earlier_count), atomicLoad(&collected_count)); }
  let counts = workgroupUniformLoad(&shared_counts);
  end_collected(local, counts.y);
  workgroupBarrier();
  return counts;
}

// Of more than there was room for: the end of a piece that has fewer.
fn halve(local: u32) {
  for (var i = local; i < ROOM; i += WORKGROUP) {
    let mine = collected[i];
    if (count_collected(ROOM, pair_of(mine), 0u, 1u) == ROOM / 2u) { shared_high = mine; }
  }
  workgroupBarrier();
}

// Puts the pairs collected, of which so many precede the first.
fn put_collected(local: u32, sequence: u32, earlier: u32, count: u32) {
  let to = target_of(sequence);
  if (count <= WORKGROUP) {
    let size = 1u << (32u - countLeadingZeros(max(count, 2u) - 1u));
    let rank = earlier + place_of_own(local, count, size);
    if (local < count && rank < params.k) { put_to(to, rank, pair_of(collected[local])); }
    return;
  }
  for (var i = local; i < count; i += WORKGROUP) {
    let mine = pair_of(collected[i]);
    let rank = earlier + count_collected(count, mine, 0u, 1u);
    if (rank < params.k) { put_to(to, rank, mine); }
  }
}

fn run(workgroup: u32, local: u32) {
  if (workgroup / params.parts >= params.sequences) { return; }
  let sequence = workgroup / params.parts;
  let row = row_of(sequence);
  let length = same_for_all(local, row.loads);
  find_bounds(local, row, length, workgroup % params.parts);
  let end = workgroupUniformLoad(&shared_high);
  loop {
    let low = workgroupUniformLoad(&shared_low);
    let high = workgroupUniformLoad(&shared_high);
    let counts = collect_between(local, row, length, pair_of(low), pair_of(high));
    if (counts.x >= params.k) { break; }
    if (counts.y > ROOM) {
      halve(local);
      continue;
    }
    put_collected(local, sequence, counts.x, counts.y);
    if (all(high == end)) { break; }
    workgroupBarrier();
    if (local == 0u) {
      shared_low = high;
      shared_high = end;
    }
    workgroupBarrier();
  }
}
