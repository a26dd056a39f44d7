// A part of a function that has a `row` and its `lane` of a team of TEAM: all loads of an invocation, held in data0, data1, ...
//   LOADS   of an invocation; they are under way at once
//   WHOLE   loads before the WHOLE-th have items of the sequence alone, but for the first where SKEWED
//   SKEWED  1 where sequences may begin inside loads
#for l in LOADS
#if WHOLE > $l
  let data$l = load(row, $[l * TEAM]u + lane);
#else
  let data$l = load(row, min($[l * TEAM]u + lane, row.loads - 1u));
#endif
#endfor
