// The first k pairs of every sequence, in order: pairs by parts and buckets, lengths -> sink.
//
// A workgroup sorts a bucket, whose pairs lie apart: those of each part. Where a list has fewer
// pairs than k, or more than it has room for, the sample misled. Then each workgroup looks for its
// bucket's pairs in the source itself. So it does where they have no room in workgroup memory, and
// takes them in pieces.
//   PLACES  for pairs that are sorted at once
//   AGAIN   loads under way at once, of up to 32 items
#import io/source
#import io/sink
#import io/part_begins
#import workgroup/pieces
#import workgroup/sort_list

@group(0) @binding(8) var<storage, read_write> pairs: array<Held>;       // [sequence][place]
// [sequence]: pairs of its list, and the workgroups that have seen that. Zeros after.
@group(0) @binding(10) var<storage, read_write> lengths: array<atomic<u32>>;

// Ranks, from the first to before the end, and how many pairs the sequence's list has.
struct Ranks { first: u32, end: u32, length: u32 }

var<workgroup> ends: array<u32, WORKGROUP>;       // of each part's pairs among the bucket's
var<workgroup> distances: array<u32, WORKGROUP>;  // from a pair's number in the bucket to its place
var<workgroup> earlier_count: atomic<u32>;
var<workgroup> shared_ranks: Ranks;

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

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup / params.buckets;
  let bucket = workgroup % params.buckets;
  if (sequence >= params.sequences) { return; }
  let ranks = find_parts(sequence, bucket, local);
  let told = params.k <= ranks.length && ranks.length <= params.places;
  var numbers = Counts(ranks.first, ranks.end - ranks.first);
  var is_listed = told && numbers.count <= PLACES;
  if (is_listed) { list_parts(sequence, local, numbers.count); }
  var any_low = bucket > 0u;
  // The last bucket goes on behind too early a threshold.
  let beyond = ranks.length < params.k && bucket + 1u == params.buckets;
  if (local == 0u) {
    shared_piece = Piece(splitter_of(sequence, max(bucket, 1u) - 1u), splitter_of(sequence, bucket + u32(beyond)));
  }
  var piece = workgroupUniformLoad(&shared_piece);
  let end = select(piece.high, store_of(last_pair()), beyond);
  let to = target_of(sequence);
  let row = row_of(sequence);
  for (; ; is_listed = false) {
    if (!is_listed) { numbers = list_piece(row, local, piece, any_low); }
    if (numbers.earlier >= params.k) { break; }
    kth_clear(local);
    workgroupBarrier();
    let count = min(numbers.count, PLACES);
    let ranks = params.k - numbers.earlier;
    sort_list(local, count, ranks);
    let put = numbers.count <= PLACES;
    if (put) {
      for (var at = local; at < min(count, ranks); at += WORKGROUP) {
        put_to(to, numbers.earlier + at, pair_held(list[at]));
      }
      if (all(piece.high == end)) { break; }
      any_low = true;
    }
    if (local == 0u) { shared_piece = piece_after(piece, end, put, numbers.count, ranks); }
    piece = workgroupUniformLoad(&shared_piece);
  }
  // The last to have seen how many pairs there are leaves zeros.
  if (local == 0u && atomicAdd(&lengths[2u * sequence + 1u], 1u) == params.buckets - 1u) {
    atomicStore(&lengths[2u * sequence], 0u);
    atomicStore(&lengths[2u * sequence + 1u], 0u);
  }
}
