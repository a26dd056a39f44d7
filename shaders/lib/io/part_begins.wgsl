// Where the buckets of each part of a sequence begin in its list, and their splitters behind.
#import io/params
#import order/pair

// [sequence][part][bucket]: where it begins, and where the last one ends. Then [sequence][bucket]:
// the words of its last pair, of a sample, and of one that comes behind all buckets.
@group(0) @binding(7) var<storage, read_write> part_begins: array<u32>;

fn splitter_at(sequence: u32, bucket: u32) -> u32 {
  let first = params.sequences * params.parts * (params.buckets + 1u);
  return first + (sequence * (params.buckets + 1u) + bucket) * PAIR_WORDS;
}

fn splitter_of(sequence: u32, bucket: u32) -> Stored {
  var words: Stored;
  let at = splitter_at(sequence, bucket);
#for w in PAIR_WORDS
  words[$w] = part_begins[at + $wu];
#endfor
  return words;
}

fn keep_splitter(sequence: u32, bucket: u32, pair: Stored) {
  let at = splitter_at(sequence, bucket);
#for w in PAIR_WORDS
  part_begins[at + $wu] = pair[$w];
#endfor
}
