// All loads of an invocation, held in data0, data1, ...: for a function with a `row` and a `lane`.
//   LOADS   of an invocation; they are under way at once
//   WHOLE   loads before the WHOLE-th hold the sequence's items alone; the first does not if SKEWED
//   SKEWED  1 where sequences may begin inside loads
#for l in LOADS
#if WHOLE > $l
  let data$l = load(row, $[l * TEAM]u + lane);
#else
  let data$l = load(row, min($[l * TEAM]u + lane, row.loads - 1u));
#endif
#endfor
