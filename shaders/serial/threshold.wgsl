// Some of each sequence's pairs, the first k among them: pairs, counts -> chosen, thresholds.
// An invocation chooses from a segment: all of up to k + slack pairs, else those before a threshold
// that at least k and at most k + slack come before. Fifteen counters find it by four bits of the
// pair at a time. Where there is one segment, list_counts become zero for the list filled next.
//   params.numbered  1 where the chosen are listed by places in the source, not by indices
#import io/source
#import io/sink
#import io/counts

@group(0) @binding(7) var<storage, read_write> thresholds: array<Stored>;          // [sequence]
@group(0) @binding(8) var<storage, read_write> chosen_counts: array<atomic<u32>>;  // [sequence]
@group(0) @binding(9) var<storage, read_write> list_counts: array<u32>;            // [sequence]

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
  let first = (id - sequence * params.segments) * params.segment;
  let whole = length_of(sequence);
  let length = min(whole - min(first, whole), params.segment);
  let step = params.source_item_step;
  let start = params.source_base + sequence * params.source_step + first * step;
  let enough = params.k + params.slack;
  var most = length;
  var prefix = Pair();
  var threshold = last_pair();
  for (var digit = Digit(0u, 28u); digit.word <= KEY_WORDS && most > enough; digit = next_digit(digit)) {
#for j in 15
    var count$j = 0u;
#endfor
    let base = bitcast<i32>((word_of(prefix, digit.word) >> digit.shift) ^ 0x80000000u);
    for (var n = 0u; n < length; n++) {
      let own = seen(Pair(source_keys[start + n * step], source_indices[start + n * step]), prefix, digit);
#for j in 15
      count$j += select(0u, 1u, own <= base + $j);
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
  if (params.segments == 1u) {
    atomicStore(&chosen_counts[sequence], 0u);
    list_counts[sequence] = 0u;
    thresholds[sequence] = store_of(threshold);
  }
  // No branch: what is not chosen is written where the next one will be. One place is to spare.
  let to = target_of(sequence);
  var place = atomicAdd(&chosen_counts[sequence], most);
  let end = place + most;
  for (var n = 0u; n < length && place < end; n++) {
    let pair = Pair(source_keys[start + n * step], source_indices[start + n * step]);
    put_to(to, place, Pair(pair.key, select(pair.index, n, params.numbered > 0u)));
    place += select(0u, 1u, before(pair, threshold));
  }
}
