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
  passing |= select(0u, 1u << $cu, !key_less(threshold.key, key_in(data, $cu)));
#endfor
  // Keys tell but where the threshold is one of their last, or some are not the sequence's.
#if SOURCE_ROWS
  if (threshold.index != NO_INDEX || v < first_whole(row) || v >= end_whole(row)) {
#else
  {
#endif
    for (var rest = passing; rest > 0u; rest &= rest - 1u) {
      let pair = item(row, v, data, firstTrailingBit(rest));
      if (pair.index == NO_INDEX || before(threshold, pair)) { passing ^= rest & (~rest + 1u); }
    }
  }
  if (passing == 0u) { return; }
  var at = reserve(sequence, countOneBits(passing));
  // Mostly a single one. A CPU's invocations, run together, all do what any of them does.
  for (var rest = passing; rest > 0u; rest &= rest - 1u) {
    enlist(sequence, at, item(row, v, data, firstTrailingBit(rest)));
    at++;
  }
}
