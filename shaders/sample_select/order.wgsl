// The first k pairs of every sequence, in order: pairs by parts and buckets, lengths -> sink.
//
// A workgroup sorts a bucket, whose pairs lie apart: those of each part. Where a list has fewer
// pairs than k, or more than it has room for, the sample misled. Then each workgroup has an equal
// share of the ranks. It finds such pairs, and those of a bucket that has no room in workgroup
// memory, in the source itself, by histograms of digits.
//   PLACES  for pairs that are sorted at once
//   AGAIN   loads under way at once, of up to 32 items
#import io/source
#import io/sink
#import thread/near
#import workgroup/kth_of_row
#import workgroup/sort_list

@group(0) @binding(7) var<storage, read_write> part_begins: array<u32>;  // [sequence][part][bucket]
@group(0) @binding(8) var<storage, read_write> pairs: array<Held>;       // [sequence][place]
// [sequence]: pairs of its list, and the workgroups that have seen that. Zeros after.
@group(0) @binding(10) var<storage, read_write> lengths: array<atomic<u32>>;

// Ranks, from the first to before the end, and how many pairs the sequence's list has.
struct Ranks { first: u32, end: u32, length: u32 }

var<workgroup> ends: array<u32, WORKGROUP>;       // of each part's pairs among the bucket's
var<workgroup> distances: array<u32, WORKGROUP>;  // from a pair's number in the bucket to its place
var<workgroup> earlier_count: atomic<u32>;
var<workgroup> shared_ranks: Ranks;
var<workgroup> listed: atomic<u32>;

// The ranks of a bucket, whose pairs lie in all parts. All call it together.
fn find_parts(sequence: u32, bucket: u32, local: u32) -> Ranks {
  if (local == 0u) { atomicStore(&earlier_count, 0u); }
  workgroupBarrier();
  let at = (sequence * params.parts + min(local, params.parts - 1u)) * (params.buckets + 1u);
  let begin = part_begins[at + bucket];
  let size = select(0u, part_begins[at + bucket + 1u] - begin, local < params.parts);
  let earlier = select(0u, begin - part_begins[at], local < params.parts);
  let length = atomicLoad(&lengths[2u * sequence]);
  if (earlier > 0u) { atomicAdd(&earlier_count, earlier); }
  let end = inclusive_sum(local, size);
  ends[local] = end;
  distances[local] = begin - (end - size);
  workgroupBarrier();
  if (local == WORKGROUP - 1u) {
    let first = atomicLoad(&earlier_count);
    shared_ranks = Ranks(first, first + end, length);
  }
  return workgroupUniformLoad(&shared_ranks);
}

// Lists the pairs of a bucket, of all parts.
fn list_parts(sequence: u32, local: u32, count: u32) {
  for (var number = local; number < count; number += WORKGROUP) {
    var part = 0u;  // the first that ends behind it
    for (var step = WORKGROUP / 2u; step > 0u; step /= 2u) {
      part += select(0u, step, ends[part + step - 1u] <= number);
    }
    list[number] = pairs[sequence * params.places + number + distances[part]];
  }
}

// Lists the pairs of ranks that no list has. All call it together.
fn list_ranks(row: Row, local: u32, first: u32, end: u32) {
  if (local == 0u) { atomicStore(&listed, 0u); }
  var limit: Limit;
  var earlier: Limit;
  // One copy of `kth_of_row` serves both: so there is less to compile.
  for (var rank = select(end, first, first > 0u); ; rank = end) {
    earlier = limit;
    limit = limit_of(row, kth_of_row(row, local, rank, 0u));
    if (rank == end) { break; }
  }
  for (var v = local; v < row.loads; v += WORKGROUP) {
    let data = load(row, v);
    var near = near_in(row, v, data, limit);
    if (first > 0u) { near &= ~near_in(row, v, data, earlier); }
    for (; near != 0u; near &= near - 1u) {
      let at = atomicAdd(&listed, 1u);
      if (at < PLACES) { list[at] = held_of(near_pair(row, v * PER_LOAD + firstTrailingBit(near))); }
    }
  }
}

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup / params.buckets;
  let bucket = workgroup % params.buckets;
  if (sequence >= params.sequences) { return; }
  var ranks = find_parts(sequence, bucket, local);
  let told = params.k <= ranks.length && ranks.length <= params.places;
  if (!told) { ranks = Ranks(bucket * params.k / params.buckets, (bucket + 1u) * params.k / params.buckets, 0u); }
  let fits = told && ranks.end - ranks.first <= PLACES;
  let to = target_of(sequence);
  for (var first = ranks.first; first < min(ranks.end, params.k); first += PLACES) {
    kth_clear(local);
    workgroupBarrier();  // also behind the last list
    let count = min(ranks.end - first, PLACES);
    if (fits) { list_parts(sequence, local, count); } else { list_ranks(row_of(sequence), local, first, first + count); }
    workgroupBarrier();
    sort_list(local, count);
    for (var at = local; at < min(count, params.k - first); at += WORKGROUP) { put_to(to, first + at, pair_held(list[at])); }
  }
  // The last to have seen how many pairs there are leaves zeros.
  if (local == 0u && atomicAdd(&lengths[2u * sequence + 1u], 1u) == params.buckets - 1u) {
    atomicStore(&lengths[2u * sequence], 0u);
    atomicStore(&lengths[2u * sequence + 1u], 0u);
  }
}
