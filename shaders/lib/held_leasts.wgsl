// A part of a function, after lib/held.wgsl: the least key of each load held, least0, least1, ... (lib/least.wgsl is imported before it).
#for l in LOADS
#if WHOLE > $l && $[l + 1] > SKEWED
  let least$l = least_in(data$l);
#else
  var least$l = LAST_KEY;
#for c in PER_LOAD
  least$l = key_min(least$l, item(row, $[l * TEAM]u + lane, data$l, $cu).key);
#endfor
#endif
#endfor
