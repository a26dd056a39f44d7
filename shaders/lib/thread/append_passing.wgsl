// Lists what is up to a threshold: a kernel's `reserve` gives the first of so many places, and its
// `enlist` fills one.
#import io/least

// The items of a load.
fn list_passing(sequence: u32, row: Row, v: u32, data: Load, threshold: Pair) {
  // As nearly always. Items of other sequences in the load can only make it look further.
  let least = least_in(data);
  if (key_less(threshold.key, least)) { return; }
#if SOURCE_ROWS
  // And of few values most loads have the threshold's own key, behind it.
  if (key_equal(threshold.key, least) && threshold.index < first_index_in(row, v)) { return; }
#endif
  var passing = 0u;  // a bit an item
#for c in PER_LOAD
  let pair$c = item(row, v, data, $cu);
  passing |= select(0u, 1u << $cu, pair$c.index != NO_INDEX && !before(threshold, pair$c));
#endfor
  if (passing > 0u) {
    var at = reserve(sequence, countOneBits(passing));
    // Mostly a single one. A CPU's invocations, run together, all do what any of them does.
    for (var rest = passing; rest > 0u; rest &= rest - 1u) {
      var pair = pair0;
#for c in PER_LOAD
      if (firstTrailingBit(rest) == $cu) { pair = pair$c; }
#endfor
      enlist(sequence, at, pair);
      at++;
    }
  }
}
