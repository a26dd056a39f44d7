// Strided subsets, one an invocation: subset p holds params.members loads, params.lanes apart, of
// a run shared with its neighbours. Eight invocations together read one line of memory.
#import io/source

struct Work { sequence: u32, subset: u32 }

// Neighbours serve sequences that lie side by side in memory, or else neighbouring subsets.
fn work_of(id: u32) -> Work {
  let across = params.neighbours > 1u;
  let inner = select(params.subsets, params.sequences, across);
  let outer = id / inner;
  let rest = id - outer * inner;
  return Work(select(outer, rest, across), select(rest, outer, across));
}

// The first load of a subset, and the end of its run.
fn loads_of(row: Row, subset: u32) -> vec2<u32> {
  let run = subset / params.lanes;
  let first = run * params.lanes * params.members;
  return vec2<u32>(first + subset - run * params.lanes, min(row.loads, first + params.lanes * params.members));
}
