// Pairs in order to the output tensors, each window with the values it holds: source -> sink.
//
// An invocation puts up to params.run results of a line of params.line, which are neighbours in
// memory: ranks of one sequence or of all, or one rank of params.neighbours sequences side by side.
// So it divides once for all of them, and words of several narrow values are mostly its own.
//   NARROW  1 where values are narrower than a word
#import io/source
#import io/sink

struct Run { sequence: u32, rank: u32, count: u32, to: Target }

fn run_of(id: u32) -> Run {
  let down = params.neighbours > 1u;
  let runs = (params.line + params.run - 1u) / params.run;
  let line = id / runs;
  let first = (id - line * runs) * params.run;
  let flat = select(line * params.line + first, line, down);
  let outer = flat / params.length;
  let sequence = select(outer, outer * params.neighbours + first, down);
  // None behind the last sequence.
  let count = select(0u, min(params.run, params.line - first), sequence < params.sequences);
  return Run(sequence, flat - outer * params.length, count, target_of(min(sequence, params.sequences - 1u)));
}

// The number of a sequence from the run's first one on, and the rank there, of the next result.
fn onward(at: vec2<u32>) -> vec2<u32> {
  if (params.neighbours > 1u) { return vec2<u32>(at.x + 1u, at.y); }
  let ends = at.y + 1u == params.length;
  return vec2<u32>(at.x + select(0u, 1u, ends), select(at.y + 1u, 0u, ends));
}

fn pair_of_result(run: Run, at: vec2<u32>) -> Pair { return load(row_of(run.sequence + at.x), at.y + params.first_rank); }

#if NARROW

// By words of the outputs. Those that other runs share take an atomic operation.
fn put_run(run: Run) {
  let start = run.to.offsets.y + run.rank * params.value_step;
  let skew = start % WORD_RANKS;
  var at = vec2<u32>(0u, run.rank);
  for (var first = 0u; first < run.count + skew; first += WORD_RANKS) {
    var mask = 0u;
    var word = 0u;
#for c in WORD_RANKS
    if (first + $cu - skew < run.count) {  // wraps before the run
      let to$c = target_beside(run.to, at.x);
      let result$c = result_of(to$c, at.y, pair_of_result(run, at));
      mask |= bits_for_word($cu, 0xffffffffu);
      word |= bits_for_word($cu, result$c.bits);
      put_index(to$c.offsets.z + at.y * params.index_step, result$c.index);
      at = onward(at);
    }
#endfor
    let place = (start - skew + first) / WORD_RANKS;
    if (mask == 0xffffffffu) { atomicStore(&values[place], word); } else { put_bits(place, mask, word); }
  }
}

#else

fn put_run(run: Run) {
  var at = vec2<u32>(0u, run.rank);
  for (var i = 0u; i < run.count; i++) {
    put_to(target_beside(run.to, at.x), at.y, pair_of_result(run, at));
    at = onward(at);
  }
}

#endif

fn run(workgroup: u32, local: u32) {
  put_run(run_of(workgroup * WORKGROUP + local));
}
