// A bitonic sorting network over each team's list of params.places pairs, a power of two.
// Batcher, "Sorting networks and their applications", 1968. The first merge of each size compares i
// with its reflection, so all directions are ascending.
//   LISTED  places of all lists of a workgroup
#import workgroup/team

var<workgroup> list: array<Stored, LISTED>;

fn compare_exchange(low: u32, high: u32) {
  let a = list[low];
  let b = list[high];
  if (before(pair_of(b), pair_of(a))) {
    list[low] = b;
    list[high] = a;
  }
}

// Sorts the first `size` pairs of every team's list, ascending. `size` is a uniform power of two.
// All invocations of the workgroup call it together.
fn sort_lists(local: u32, size: u32) {
  let half_size = size / 2u;
  for (var run = 2u; run <= size; run *= 2u) {
    for (var reach = run / 2u; reach > 0u; reach /= 2u) {
      workgroupBarrier();
      for (var t = local; t < teams_of_workgroup() * half_size; t += WORKGROUP) {
        let home = (t >> firstTrailingBit(half_size)) * params.places;
        let i = t & (half_size - 1u);
        let within = i & (reach - 1u);
        let block = home + 2u * (i - within);
        // The first step of a merge mirrors, the others shift.
        let other = select(reach + within, 2u * reach - 1u - within, reach == run / 2u);
        compare_exchange(block + within, block + other);
      }
    }
  }
  workgroupBarrier();
}
