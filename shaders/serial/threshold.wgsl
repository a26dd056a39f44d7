// Some of each sequence's items, the first k among them: source, counts -> sink, thresholds.
// An invocation chooses from a segment of loads: all of up to k + slack items, else those before a
// threshold that at least k and at most k + slack come before. Fifteen counters find it by four
// bits of the pair at a time. Each segment has params.places, one to spare. Nothing fills those
// that it leaves.
// Where there is one segment, list_counts become zero for the list filled next.
//   params.numbered  1 where the chosen are listed by places in the source, not by indices
#import io/source
#import io/sink
#if SOURCE_PAIRS
#import io/counts
#endif

@group(0) @binding(7) var<storage, read_write> thresholds: array<Stored>;  // [sequence]
@group(0) @binding(8) var<storage, read_write> chosen_counts: array<u32>;  // [sequence]
@group(0) @binding(9) var<storage, read_write> list_counts: array<u32>;    // [sequence]

struct Digit { word: u32, shift: u32 }

// Words of a pair, most significant first; each has the bits from its lowest one on.
fn top_of(word: u32) -> u32 { return select(28u, (params.index_bits - 1u) / 4u * 4u, word == KEY_WORDS); }

fn next_digit(digit: Digit) -> Digit {
  let lowest = select(0u, 32u * (digit.word + 1u) - min(32u * (digit.word + 1u), params.key_bits), digit.word < KEY_WORDS);
  let more = digit.shift > lowest;
  return Digit(select(digit.word + 1u, digit.word, more), select(top_of(digit.word + 1u), digit.shift - 4u, more));
}

// What is compared with a digit: the word's bits from it on, if all words above are the prefix's.
fn seen(pair: Pair, prefix: Pair, digit: Digit) -> i32 {
  let indexed = under(pair.index, key_less(pair.key, prefix.key), key_less(prefix.key, pair.key));
#if KEY_WORDS == 1
  let keyed = pair.key;
#else
  let low = under(pair.key.y, prefix.key.x > pair.key.x, pair.key.x > prefix.key.x);
  let keyed = select(pair.key.x, low, digit.word == 1u);
#endif
  return bitcast<i32>((select(keyed, indexed, digit.word == KEY_WORDS) >> digit.shift) ^ 0x80000000u);
}

fn under(word: u32, less: bool, more: bool) -> u32 { return select(select(word, 0u, less), 0xffffffffu, more); }

fn with_bits(pair: Pair, word: u32, bits: u32) -> Pair {
#if KEY_WORDS == 1
  return Pair(pair.key | select(0u, bits, word == 0u), pair.index | select(0u, bits, word == 1u));
#else
  return Pair(pair.key | vec2<u32>(select(0u, bits, word == 0u), select(0u, bits, word == 1u)),
              pair.index | select(0u, bits, word == 2u));
#endif
}

fn word_of(pair: Pair, word: u32) -> u32 {
#if KEY_WORDS == 1
  return select(pair.key, pair.index, word == 1u);
#else
  return select(select(pair.key.x, pair.key.y, word == 1u), pair.index, word == 2u);
#endif
}

fn one_of(row: Row, v: u32, data: Load, c: u32) -> Pair {
#if SOURCE_ROWS
  return item(row, v, data, c);
#else
  return data;  // No load is past the end.
#endif
}

// All bits below a digit.
fn filled(prefix: Pair, digit: Digit) -> Pair {
  var pair = with_bits(prefix, digit.word, (1u << digit.shift) - 1u);
#for w in PAIR_WORDS
  pair = with_bits(pair, $wu, select(0u, 0xffffffffu, $wu > digit.word));
#endfor
  return pair;
}

fn next_pair(pair: Pair) -> Pair { return Pair(pair.key, max(pair.index, pair.index + 1u)); }

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let sequence = id / params.segments;
  if (sequence >= params.sequences) { return; }
  let segment = id - sequence * params.segments;
  let row = row_of(sequence);
#if SOURCE_PAIRS
  let loads = length_of(sequence);
#else
  let loads = row.loads;
#endif
  let first = min(segment * params.segment, loads);
  let end = min(first + params.segment, loads);
  let enough = params.k + params.slack;
  var most = (end - first) * PER_LOAD;
  var prefix = Pair();
  var threshold = last_pair();
  for (var digit = Digit(0u, 28u); digit.word <= KEY_WORDS && most > enough; digit = next_digit(digit)) {
#for j in 15
    var count$j = 0u;
#endfor
    let base = bitcast<i32>((word_of(prefix, digit.word) >> digit.shift) ^ 0x80000000u);
    for (var v = first; v < end; v++) {
      let data = load(row, v);
#for c in PER_LOAD
      {
        let own = seen(one_of(row, v, data, $cu), prefix, digit);
#for j in 15
        count$j += select(0u, 1u, own <= base + $j);
#endfor
      }
#endfor
    }
    var bits = 0u;
#for j in 15
    bits += select(0u, 1u, count$j < params.k);
    most = select(most, min(most, count$j), count$j >= params.k);
#endfor
    prefix = with_bits(prefix, digit.word, bits << digit.shift);
    threshold = next_pair(filled(prefix, digit));
  }
  // No branch: what is not chosen is written where the next one will be.
  let to = target_of(sequence);
  var place = segment * params.places;
  for (var v = first; v < end && place < segment * params.places + most; v++) {
    let data = load(row, v);
#for c in PER_LOAD
    {
      let pair = one_of(row, v, data, $cu);
      put_to(to, place, Pair(pair.key, select(pair.index, v, params.numbered > 0u)));
      place += select(0u, 1u, before(pair, threshold));
    }
#endfor
  }
  if (params.segments == 1u) {
    chosen_counts[sequence] = place;
    list_counts[sequence] = 0u;
    thresholds[sequence] = store_of(threshold);
  }
  for (; place < (segment + 1u) * params.places; place++) { put_to(to, place, last_pair()); }
}
