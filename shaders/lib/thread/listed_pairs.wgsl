// The pairs of a list that an invocation looks at, some loads under way at once.
#import io/source

// The kernel's `take_listed(list, row, pair)` takes the pairs first, first + stride, ...
fn look_at_list(list: u32, row: Row, first: u32, stride: u32) {
  for (var q = first; q < row.loads; q += 4u * stride) {
#for u in 4
    let pair$u = load(row, min(q + $uu * stride, row.loads - 1u));
#endfor
#for u in 4
    if (q + $uu * stride < row.loads) { take_listed(list, row, pair$u); }
#endfor
  }
}
