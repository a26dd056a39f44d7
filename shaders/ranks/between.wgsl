// Lists what lies in brackets, and counts what lies between them: source, brackets -> sink (lists),
// listed and classes (zeros before).
//
// Class c has the items that c brackets begin before, and that lie in none.
//   BRACKETS   of a sequence, in order; those that overlap end where the next begins
//   STEPS      so many steps find a place among them
//   WORDS      words of counters of 8 bits for the classes
//   ROUNDS     turns of four loads until those could overflow
//   COLLECTED  pairs that a workgroup collects before it asks for places; others ask one by one
#import io/source
#import io/brackets

const SIZE: u32 = 1u << STEPS;

struct Ends { low: Key, high: Key }  // of keys: the first of a bracket, the last of the one before

@group(0) @binding(2) var<storage, read_write> list_keys: array<Key>;     // [list][place]
@group(0) @binding(3) var<storage, read_write> list_indices: array<u32>;
@group(0) @binding(7) var<storage, read_write> classes: array<atomic<u32>>;  // [sequence][bracket]
@group(0) @binding(8) var<storage, read_write> listed: array<atomic<u32>>;   // [list]

var<workgroup> lows: array<Key, SIZE>;
var<workgroup> ends: array<Ends, BRACKETS + 1u>;
var<workgroup> low_pairs: array<Stored, BRACKETS>;
var<workgroup> high_pairs: array<Stored, BRACKETS>;
var<workgroup> sums: array<atomic<u32>, BRACKETS + 1u>;
var<workgroup> found: array<atomic<u32>, BRACKETS>;       // pairs of each list that are collected
var<workgroup> starts: array<u32, BRACKETS>;
var<workgroup> collected: array<Stored, COLLECTED>;
var<workgroup> origins: array<u32, COLLECTED>;            // their brackets, and places among those
var<workgroup> collected_count: atomic<u32>;

fn stored_from(words: vec3<u32>) -> Stored {
#if KEY_WORDS == 1
  return words.xy;
#else
  return words;
#endif
}

fn begin(local: u32, sequence: u32) {
  if (local < SIZE) { lows[local] = LAST_KEY; }
  if (local < BRACKETS + 1u) {
    ends[local] = Ends(LAST_KEY, LAST_KEY);
    atomicStore(&sums[local], 0u);
  }
  if (local == 0u) { atomicStore(&collected_count, 0u); }
  workgroupBarrier();
  if (local < BRACKETS) {
    let low = pair_of(stored_from(low_of(sequence * BRACKETS + local)));
    let high = pair_of(stored_from(high_of(sequence * BRACKETS + local)));
    low_pairs[local] = store_of(low);
    high_pairs[local] = store_of(high);
    lows[local] = low.key;
    ends[local].low = low.key;
    ends[local + 1u].high = high.key;
    atomicStore(&found[local], 0u);
  }
  workgroupBarrier();
}

// The class of a pair, and whether it lies in the bracket before that.
fn class_of(pair: Pair) -> vec2<u32> {
  var class_ = 0u;
#for b in BRACKETS
  class_ += select(1u, 0u, before(pair, pair_of(low_pairs[$b])));
#endfor
  let inside = class_ > 0u && !before(pair_of(high_pairs[max(class_, 1u) - 1u]), pair);
  return vec2<u32>(class_, select(0u, 1u, inside));
}

fn put_listed(list: u32, place: u32, pair: Pair) {
  if (place >= params.places) { return; }
  list_keys[list * params.places + place] = pair.key;
  list_indices[list * params.places + place] = pair.index;
}

fn collect(sequence: u32, bracket: u32, pair: Pair) {
  let at = atomicAdd(&collected_count, 1u);
  if (at < COLLECTED) {
    collected[at] = store_of(pair);
    origins[at] = (bracket << 16u) | atomicAdd(&found[bracket], 1u);
    return;
  }
  // One by one, until the list is too long in any case.
  let list = sequence * BRACKETS + bracket;
  if (atomicLoad(&listed[list]) <= params.places) { put_listed(list, atomicAdd(&listed[list], 1u), pair); }
}

// Asks for places for what is collected, and puts it there. All of a workgroup together.
fn put_collected(local: u32, sequence: u32) {
  workgroupBarrier();
  let count = atomicLoad(&collected_count);
  if (local < BRACKETS) {
    let mine = atomicLoad(&found[local]);
    if (mine > 0u) { starts[local] = atomicAdd(&listed[sequence * BRACKETS + local], mine); }
    atomicStore(&found[local], 0u);
  }
  workgroupBarrier();
  for (var i = local; i < min(count, COLLECTED); i += WORKGROUP) {
    let bracket = origins[i] >> 16u;
    put_listed(sequence * BRACKETS + bracket, starts[bracket] + (origins[i] & 0xffffu), pair_of(collected[i]));
  }
  workgroupBarrier();
  if (local == 0u) { atomicStore(&collected_count, 0u); }
  workgroupBarrier();
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  if (id / params.parts >= params.sequences) { return; }
  let sequence = id / params.parts;
  begin(local, sequence);
  let row = row_of(sequence);
  let stride = params.parts * WORKGROUP;
  // The same for all of a workgroup, which put together what they collect.
  let first = id % params.parts * WORKGROUP;
  for (var base = first; base < row.loads; base += 4u * ROUNDS * stride) {
    var counts = array<u32, WORDS>();
    for (var round = 0u; round < ROUNDS; round++) {
      let q = base + 4u * round * stride + local;
#for u in 4
      let v$u = min(q + $uu * stride, row.loads - 1u);
      let data$u = load(row, v$u);
#endfor
#for u in 4
      if (q + $uu * stride < row.loads) {
#for c in PER_LOAD
        {
          let pair = item(row, v$u, data$u, $cu);
          var place = 0u;
#for s in STEPS
          place += select(0u, $[1 << (STEPS - 1 - s)]u, key_less(lows[place + $[(1 << (STEPS - 1 - s)) - 1]u], pair.key));
#endfor
          var class_ = min(place, BRACKETS);
          let near = ends[class_];
          // Only pairs tell whether an item that has an end's key, or lies between keys, is inside.
          let unsure = key_equal(near.low, pair.key) || (class_ > 0u && !key_less(near.high, pair.key));
          var counts_here = select(0u, 1u, pair.index != NO_INDEX);
          if (unsure && pair.index != NO_INDEX) {
            let exact = class_of(pair);
            class_ = exact.x;
            if (exact.y == 1u) {
              counts_here = 0u;
              collect(sequence, class_ - 1u, pair);
            }
          }
          let one = counts_here << (8u * (class_ & 3u));
#for w in WORDS
          counts[$w] += select(0u, one, class_ >> 2u == $wu);
#endfor
        }
#endfor
      }
#endfor
    }
#for w in WORDS
#for b in 4
    if ($[4 * w + b]u < BRACKETS + 1u) { atomicAdd(&sums[min($[4 * w + b]u, BRACKETS)], (counts[$w] >> $[8 * b]u) & 0xffu); }
#endfor
#endfor
    put_collected(local, sequence);
  }
  if (local < BRACKETS) { atomicAdd(&classes[sequence * BRACKETS + local], atomicLoad(&sums[local])); }
}
