// Lists what is up to a threshold in order of index: source -> sink. A workgroup serves a row.
// Scans tell places: of the first loads of all invocations, then of the next.
// A list has params.places places; what has none is only counted.
//   AGAIN  loads under way at once, of up to 32 items: an even number
#import io/sink
#import thread/near
#import workgroup/same
#import workgroup/scan

// Returns how many are up to it. All call it together.
fn list_in_order(sequence: u32, row: Row, local: u32, threshold: Pair) -> u32 {
  let loads = same_for_all(local, row.loads);
  let limit = limit_of(row, threshold);
  var first = 0u;
  for (var turn = 0u; turn < loads; turn += AGAIN * WORKGROUP) {
#for u in AGAIN
    let v$u = turn + $uu * WORKGROUP + local;
    let data$u = load(row, min(v$u, loads - 1u));
#endfor
#for u in AGAIN
    let near$u = near_in(row, v$u, data$u, limit);  // a bit an item
#endfor
#for u in AGAIN
#if 1 > $[u % 2]
    let scan$u = scan(local, countOneBits(near$u) | (countOneBits(near$[u + 1]) << 16u));
#endif
#endfor
#for u in AGAIN
    var place$u = first + ((scan$[u - u % 2].exclusive >> $[u % 2 * 16]u) & 0xffffu);
    first += (scan$[u - u % 2].total >> $[u % 2 * 16]u) & 0xffffu;
    for (var rest = near$u; rest > 0u; rest &= rest - 1u) {
      if (place$u < params.places) { put(sequence, place$u, item(row, v$u, data$u, firstTrailingBit(rest))); }
      place$u++;
    }
#endfor
  }
  // A list that a later threshold fills anew is written after this one.
  storageBarrier();
  return same_for_all(local, first);
}
