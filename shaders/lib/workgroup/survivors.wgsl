// Re-reads a sequence's chosen subsets; lists what is up to a threshold (thread/append_passing).
//   ROOM     for the numbers of chosen subsets and loads
//   AGAIN    loads under way at once
//   SECONDS  1 where single loads are chosen too
#import thread/append_passing

var<workgroup> chosen: array<u32, ROOM>;  // subsets from the front, single loads from the back
var<workgroup> chosen_count: atomic<u32>;

// The first of so many places of `chosen`.
fn places_for_subsets(count: u32) -> u32 { return atomicAdd(&chosen_count, count); }

#if SECONDS
var<workgroup> single_count: atomic<u32>;

fn places_for_loads(count: u32) -> u32 { return ROOM - count - atomicAdd(&single_count, count); }
#endif

// One invocation, before a barrier ahead of the first that asks for places.
fn choose_none() {
  atomicStore(&chosen_count, 0u);
#if SECONDS
  atomicStore(&single_count, 0u);
#endif
}

// After a barrier behind the last choice.
fn read_chosen(sequence: u32, row: Row, local: u32, threshold: Pair) {
  // Powers of two in place of divisions: some invocations have nothing to read.
  let shift = 32u - countLeadingZeros(params.members - 1u);
#if SECONDS
  let singles = atomicLoad(&single_count);
#else
  const singles = 0u;
#endif
  let again = singles + (atomicLoad(&chosen_count) << shift);
  for (var w = local; w < again; w += AGAIN * WORKGROUP) {
#for u in AGAIN
    let w$u = min(w + $uu * WORKGROUP, again - 1u);
#if SECONDS
    let single$u = w$u < singles;
    let member$u = w$u - select(singles, w$u, single$u);
    let place$u = select(member$u >> shift, ROOM - 1u - w$u, single$u);
    let v$u = chosen[place$u] + (member$u & ((1u << shift) - 1u)) * params.subsets;
#else
    let v$u = chosen[w$u >> shift] + (w$u & ((1u << shift) - 1u)) * params.subsets;
#endif
    let there$u = w + $uu * WORKGROUP < again && v$u < row.loads;
    let data$u = load(row, min(v$u, row.loads - 1u));
#endfor
#for u in AGAIN
    if (there$u) { list_passing(sequence, row, v$u, data$u, threshold); }
#endfor
  }
}
