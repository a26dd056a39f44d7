// A list of pairs in workgroup memory.
//   PLACES  of the list
#import order/held

var<workgroup> list: array<Held, PLACES>;

// How many pairs of the places from `begin` to before `end`, in any order, come before a pair. Four
// at a time: a wait for each would take longer.
fn count_all_before(begin: u32, end: u32, held: Held) -> u32 {
  var count = 0u;
  for (var other = begin; other < end; other += 4u) {
#for u in 4
    let other$u = list[min(other + $uu, end - 1u)];
#endfor
#for u in 4
    count += select(0u, 1u, (other + $uu < end) & held_before(other$u, held));
#endfor
  }
  return count;
}
