// Merges the lists of a team's invocations, in a tree -> `lists`, at its first invocation's place.
#import io/params
#import thread/pair_list

var<workgroup> lists: array<Stored, WORKGROUP * K>;  // [rank][invocation]

fn leave_list(local: u32, list: ptr<function, List>) {
#for i in K
  lists[$iu * WORKGROUP + local] = store_of((*list)[$i]);
#endfor
}

// All invocations call it together.
fn merge_lists(local: u32, lane: u32, list: ptr<function, List>) {
  for (var reach = params.team / 2u; reach > 0u; reach /= 2u) {
    workgroupBarrier();
    if (lane >= reach && lane < 2u * reach) { leave_list(local, list); }
    workgroupBarrier();
    if (lane < reach) {
      for (var i = 0u; i < K; i++) {
        let other = pair_of(lists[i * WORKGROUP + local + reach]);
        if (before(other, (*list)[K - 1u])) { insert(list, other, false); }
      }
    }
  }
  workgroupBarrier();
  if (lane == 0u) { leave_list(local, list); }
  workgroupBarrier();
}
