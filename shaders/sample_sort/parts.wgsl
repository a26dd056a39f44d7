// The first k of each sequence, in order, by a sample sort: source -> sink.
//
// params.parts workgroups serve a sequence. All of them order the same sample, whose splitters cut
// the sequence into parts of about one size (Frazer and McKellar, "Samplesort: A Sampling Approach
// to Minimal Storage Tree Sorting", Journal of the ACM 17(3), 1970). Each reads the whole sequence,
// counts what precedes its part, and lists and sorts what is in it. A part that outgrows its list
// is taken in pieces.
//   SAMPLED  pairs of the sample for each part
//   PLACES   of the list, as many as the sample has and more
//   AGAIN    loads under way at once, of up to 32 items
#import io/source
#import io/sink
#import io/pair_at
#import workgroup/pieces
#import workgroup/sort_list
#import io/put_ranks

var<private> first_rank: u32;

fn ranked(slot: u32, rank: u32) -> Pair { return pair_held(list[rank - first_rank]); }

// A pair from each stretch of the sequence: not the same place, as sequences have patterns. Short
// spans have fewer pairs, and nothing for the others.
fn list_sample(row: Row, local: u32, sample: u32) {
  let items = items_of(row);
  let stretch = max(items / sample, 1u);  // The last items may be in none.
  for (var i = local; i < sample; i += WORKGROUP) {
    let at = i * stretch + ((i * 0x9e3779b1u) >> 16u) % stretch;
    list[i] = held_of(select_pair(last_pair(), pair_within(row, min(at, items - 1u)), at < items));
  }
}

// All of a part, by the sorted sample in the list. `end`: what no pair comes behind.
fn whole_part(part: u32, end: Stored) -> Piece {
  let low = store_of(pair_held(list[max(part * SAMPLED, 1u) - 1u]));
  if (part + 1u == params.parts) { return Piece(low, end); }
  return Piece(low, store_of(pair_held(list[(part + 1u) * SAMPLED - 1u])));
}

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup / params.parts;
  let part = workgroup % params.parts;
  if (sequence >= params.sequences) { return; }
  let row = row_of(sequence);
  var numbers = Counts(0u, SAMPLED * params.parts);
  list_sample(row, local, numbers.count);
  var piece: Piece;
  var end = store_of(last_pair());
  var any_low = part > 0u;
  for (var turn = 0u; ; turn++) {
    kth_clear(local);
    workgroupBarrier();
    // One copy of this serves the sample and all pieces: so there is less to compile.
    let ranks = select(params.k - numbers.earlier, PLACES, turn == 0u);
    sort_list(local, min(numbers.count, PLACES), ranks);
    let put = turn > 0u && numbers.count <= PLACES;
    if (put) {
      first_rank = numbers.earlier;
      put_ranks_of_one(sequence, first_rank, first_rank + min(ranks, numbers.count), local);
      if (all(piece.high == end)) { break; }
      any_low = true;
    }
    if (local == 0u && turn == 0u) { shared_piece = whole_part(part, end); }
    if (local == 0u && turn > 0u) { shared_piece = piece_after(piece, end, put, numbers.count, ranks); }
    piece = workgroupUniformLoad(&shared_piece);
    if (turn == 0u) { end = piece.high; }
    numbers = list_piece(row, local, piece, any_low);
    if (numbers.earlier >= params.k) { break; }
  }
}
