// Radix select, most significant digit first: level by level, which digit holds the k-th pair.
// A level counts a digit of the pairs (key high, key low, index) that share the prefix so far.
//   BINS, EACH_BINS  counters a digit, and those of each invocation of a workgroup
#import order/pair
#import io/params
#import workgroup/scan

@group(0) @binding(6) var<storage, read_write> histogram: array<atomic<u32>>;
// [level][sequence][BINS], and [level][sequence][4]: the prefix's words, the rank that is left.
@group(0) @binding(7) var<storage, read_write> progress: array<u32>;

// [fallback][sequence]: pairs that asked for a place.
@group(0) @binding(8) var<storage, read_write> listed: array<atomic<u32>>;

fn count_at(sequence: u32) -> u32 { return params.fallback * params.sequences + sequence; }

// Rank left that says: the prefix, filled up with ones, is the threshold already.
const SETTLED: u32 = 0u;

struct Prefix { words: array<u32, 3>, rank: u32 }

fn threshold_of(prefix: Prefix) -> Pair {
#if KEY_WORDS == 1
  return Pair(prefix.words[0], prefix.words[1]);
#else
  return Pair(vec2<u32>(prefix.words[0], prefix.words[1]), prefix.words[2]);
#endif
}

// The loads of an invocation in a part of a sequence: the first, their end, and their step.
fn run_of(part: u32, local: u32, loads: u32) -> vec3<u32> {
  return vec3<u32>(part * WORKGROUP + local, loads, params.parts * WORKGROUP);
}

fn slot_of(level: u32, sequence: u32) -> u32 { return level * params.sequences + sequence; }

var<workgroup> shared_rank: u32;
var<workgroup> shared_listed: u32;

// Whether a sample's threshold has listed enough pairs, not too many. All call it together.
fn is_listed(local: u32, sequence: u32) -> bool {
  if (params.fallback == 0u) { return false; }
  if (local == 0u) { shared_listed = atomicLoad(&listed[sequence]); }
  let count = workgroupUniformLoad(&shared_listed);
  return params.k <= count && count <= params.places;
}
var<workgroup> found_digit: u32;
var<workgroup> found_earlier: u32;
var<workgroup> found_count: u32;

// The prefix with the digit of the level before. The whole workgroup calls it together. One
// invocation of the dispatch (`keeper`) leaves it for the next level.
fn resolve(local: u32, sequence: u32, keeper: bool) -> Prefix {
  var prefix = Prefix(array<u32, 3>(0u, 0u, 0u), params.k);
  if (params.level > 0u) {
    let slot = slot_of(params.level - 1u, sequence);
    for (var w = 0u; w < 3u; w++) { prefix.words[w] = progress[slot * 4u + w]; }
    if (local == 0u) { shared_rank = progress[slot * 4u + 3u]; }
    // scan has barriers, and Tint takes a struct with a member from storage for non-uniform.
    let rank = workgroupUniformLoad(&shared_rank);
    prefix.rank = rank;
    if (rank != SETTLED) {
      var sum = 0u;
      let first = slot * BINS + local * EACH_BINS;
      // All of the loads are under way before the first is used.
#for b in EACH_BINS
      let count$b = atomicLoad(&histogram[first + $bu]);
#endfor
#for b in EACH_BINS
      sum += count$b;
#endfor
      var below = scan(local, sum).exclusive;
#for b in EACH_BINS
      if ((below < prefix.rank) & (prefix.rank <= below + count$b)) {
        found_digit = local * EACH_BINS + $bu;
        found_earlier = below;
        found_count = count$b;
      }
      below += count$b;
#endfor
      workgroupBarrier();
      prefix.words[params.previous_word] |= found_digit << params.previous_shift;
      prefix.rank -= found_earlier;
      if (prefix.rank == found_count) {
        // The whole bin is wanted: every later digit is at its largest.
        prefix.rank = SETTLED;
        prefix.words[params.previous_word] |= (1u << params.previous_shift) - 1u;
        for (var w = params.previous_word + 1u; w < 3u; w++) { prefix.words[w] = 0xffffffffu; }
      }
    }
  }
  if (keeper && local == 0u) {
    let slot = slot_of(params.level, sequence);
    for (var w = 0u; w < 3u; w++) { progress[slot * 4u + w] = prefix.words[w]; }
    progress[slot * 4u + 3u] = prefix.rank;
  }
  return prefix;
}
