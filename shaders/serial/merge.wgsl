// Up to WAYS lists of each sequence, each in order, as one: lists -> merged, or sink.
//
// An invocation holds the first pairs of params.ways lists in registers, and puts the first of all.
// Behind the last pair of a list lies nothing. Neighbours serve different sequences.
//   LAST      1 where one list is left of each sequence, which goes to the sink
//   WAY_BITS  WAYS is 1 << WAY_BITS
#import order/held
#import io/params
#if LAST
#import io/sink
#endif

@group(0) @binding(6) var<storage, read_write> lists: array<Held>;  // [sequence][list][rank]
#if !LAST
@group(0) @binding(7) var<storage, read_write> merged: array<Held>;
#endif

fn run(workgroup: u32, local: u32) {
  let id = workgroup * WORKGROUP + local;
  let group = id / params.sequences;
  let sequence = id - group * params.sequences;
  let first = group * params.ways;
  if (first >= params.runs) { return; }
  let start = (sequence * params.runs + first) * params.places;
  var heads: array<Held, WAYS>;
  var places: array<u32, WAYS>;
#for w in WAYS
  {
    let live = ($wu < params.ways) & (first + $wu < params.runs);
    places[$w] = start + $wu * params.places;
    heads[$w] = select(nothing_held(), lists[select(start, places[$w], live)], live);
  }
#endfor
#if LAST
  let to = target_of(sequence);
#else
  let to = (sequence * params.merges + group) * (params.kept + 1u);
#endif
  for (var rank = 0u; rank < params.kept; rank++) {
    var bests = heads;
    var at = places;
#for l in WAY_BITS
#for p in WAYS
#if WAYS > $[(2 * p + 1) << l]
    {
      let later = held_before(bests[$[(2 * p + 1) << l]], bests[$[(2 * p) << l]]);
      bests[$[(2 * p) << l]] = select(bests[$[(2 * p) << l]], bests[$[(2 * p + 1) << l]], later);
      at[$[(2 * p) << l]] = select(at[$[(2 * p) << l]], at[$[(2 * p + 1) << l]], later);
    }
#endif
#endfor
#endfor
#if LAST
    put_to(to, rank, pair_held(bests[0]));
#else
    merged[to + rank] = bests[0];
#endif
    // Behind nothing lies another list.
    let next = lists[at[0] + select(1u, 0u, is_nothing(bests[0]))];
#for w in WAYS
    {
      let own = places[$w] == at[0];
      heads[$w] = select(heads[$w], next, own);
      places[$w] += select(0u, 1u, own);
    }
#endfor
  }
#if !LAST
  merged[to + params.kept] = nothing_held();
#endif
}
