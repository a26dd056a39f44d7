// Radix select, most significant digit first: level by level, which digit holds the k-th pair.
// A level counts a digit of the pairs (key high, key low, index) that share the prefix so far.
//   BINS, EACH_BINS  counters a digit, and those of each invocation of a workgroup
#import order/words
#import io/params
#import workgroup/same
#import workgroup/scan

@group(0) @binding(6) var<storage, read_write> histogram: array<atomic<u32>>;
// [level][sequence][BINS], and [level][sequence]: the prefix's words, the rank that is left.
@group(0) @binding(7) var<storage, read_write> progress: array<vec4<u32>>;

// [fallback][sequence]: pairs that asked for a place.
@group(0) @binding(8) var<storage, read_write> listed: array<atomic<u32>>;

fn count_at(sequence: u32) -> u32 { return params.fallback * params.sequences + sequence; }

// Rank left that says: the prefix, filled up with ones, is the threshold already.
const SETTLED: u32 = 0u;

struct Prefix { words: vec3<u32>, rank: u32 }

// The loads of an invocation in a part of a sequence: the first, their end, and their step.
fn run_of(part: u32, local: u32, loads: u32) -> vec3<u32> {
  return vec3<u32>(part * WORKGROUP + local, loads, params.parts * WORKGROUP);
}

fn slot_of(level: u32, sequence: u32) -> u32 { return level * params.sequences + sequence; }

// Whether a sample's threshold has listed enough pairs, not too many. All call it together.
fn is_listed(local: u32, sequence: u32) -> bool {
  if (params.fallback == 0u) { return false; }
  let count = same_for_all(local, atomicLoad(&listed[sequence]));
  return params.k <= count && count <= params.places;
}

var<workgroup> found: vec3<u32>;  // the digit, the pairs of those before it, and its own

// The prefix with the digit of the level before. The whole workgroup calls it together. One
// invocation of the dispatch (`keeper`) leaves it for the next level.
fn resolve(local: u32, sequence: u32, keeper: bool) -> Prefix {
  var prefix = Prefix(vec3<u32>(), params.k);
  if (params.level > 0u) {
    let slot = slot_of(params.level - 1u, sequence);
    prefix.words = progress[slot].xyz;
    // scan has barriers, and Tint takes a struct with a member from storage for non-uniform.
    let rank = same_for_all(local, progress[slot].w);
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
      if ((below < prefix.rank) & (prefix.rank <= below + count$b)) { found = vec3<u32>(local * EACH_BINS + $bu, below, count$b); }
      below += count$b;
#endfor
      workgroupBarrier();
      prefix.words |= in_word(params.previous_word, found.x << params.previous_shift);
      prefix.rank -= found.y;
      if (prefix.rank == found.z) {
        // The whole bin is wanted: every later digit is at its largest.
        prefix.rank = SETTLED;
        prefix.words |= mask_below(Digit(params.previous_word, params.previous_shift, 0u));
      }
    }
  }
  if (keeper && local == 0u) { progress[slot_of(params.level, sequence)] = vec4<u32>(prefix.words, prefix.rank); }
  return prefix;
}
