// The first pairs of every run of a sequence, in order: source -> lists.
//
// An invocation sorts a run of items in registers: on a software adapter a load or a store takes
// as long as tens of comparisons there. Neighbours have the same run of different sequences.
// A list has params.places, the last of which has nothing.
//   RUN               items of a run; RUN_BITS is its exponent, and RUN_HALF half of it
//   ITEMS_PER_THREAD  of those that a turn of a loop loads and sorts, or puts
//   LOADS             that bring so many
#import io/source
#import thread/network

@group(0) @binding(6) var<storage, read_write> lists: array<Held>;  // [sequence][run][rank]

alias Run = array<Held, RUN>;

// The first items go, and all others take their places.
fn move_on(pairs: ptr<function, Run>) {
#for i in RUN
#if RUN > $[i + ITEMS_PER_THREAD]
  (*pairs)[$i] = (*pairs)[$[i + ITEMS_PER_THREAD]];
#endif
#endfor
}

// Items that are loaded come behind the others. By turns they ascend and descend.
fn load_run(row: Row, run: u32, pairs: ptr<function, Run>) {
  var v = run * (RUN / PER_LOAD);
  for (var turn = 0u; turn < RUN / ITEMS_PER_THREAD; turn++) {
    var batch: Registers;
#for l in LOADS
    {
      let data = load(row, min(v + $lu, row.loads - 1u));
#for c in PER_LOAD
      batch[$[l * PER_LOAD + c]] = held_of(item(row, v + $lu, data, $cu));
#endfor
    }
#endfor
    sort_registers(&batch);
    move_on(pairs);
#for i in ITEMS_PER_THREAD
    (*pairs)[$[RUN - ITEMS_PER_THREAD + i]] = select(batch[$i], batch[$[ITEMS_PER_THREAD - 1 - i]], turn % 2u == 1u);
#endfor
    v += LOADS;
  }
}

// Batcher's bitonic sort from there on. A step compares pairs half of all apart, and shuffles all,
// so that every step has the same text: H. S. Stone, "Parallel processing with the perfect
// shuffle", 1971.
fn sort_run(pairs: ptr<function, Run>) {
  for (var phase = ITEM_BITS; phase < RUN_BITS; phase++) {
    for (var step = 0u; step < RUN_BITS; step++) {
      let counts = step + phase + 1u >= RUN_BITS;
      let turned = select(0u, 1u << (step + phase + 1u - RUN_BITS), counts & (phase + 1u < RUN_BITS));
      let old = *pairs;
#for p in RUN_HALF
      {
        let swaps = counts & (held_before(old[$[p + RUN_HALF]], old[$p]) != (($pu & turned) != 0u));
        (*pairs)[$[2 * p]] = select(old[$p], old[$[p + RUN_HALF]], swaps);
        (*pairs)[$[2 * p + 1]] = select(old[$[p + RUN_HALF]], old[$p], swaps);
      }
#endfor
    }
  }
}

fn run(workgroup: u32, local: u32) {
  let id = workgroup * WORKGROUP + local;
  let run = id / params.sequences;
  let sequence = id - run * params.sequences;
  if (run >= params.runs) { return; }
  let row = row_of(sequence);
  let start = (sequence * params.runs + run) * params.places;
  let end = start + params.places - 1u;
  if (run * (RUN / PER_LOAD) >= row.loads) {
    lists[start] = nothing_held();
    return;
  }
  var pairs: Run;
  load_run(row, run, &pairs);
  sort_run(&pairs);
  for (var at = start; at < end; at += ITEMS_PER_THREAD) {
#for i in ITEMS_PER_THREAD
    lists[at + $iu] = pairs[$i];
#endfor
    move_on(&pairs);
  }
  lists[end] = nothing_held();
}
