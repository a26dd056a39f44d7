// A sorted list of K pairs in the registers of an invocation, by insertion.
#import order/pair

alias List = array<Pair, K>;

// All that follow move on by one. `latest`: no pair of the list has a later index, so that keys
// tell and ties stay behind.
fn insert(list: ptr<function, List>, pair: Pair, latest: bool) {
  var carried = pair;
#for i in K
  {
    let old = (*list)[$i];
    let wins = select(before(pair, old), key_less(pair.key, old.key), latest);
    (*list)[$i] = select_pair(old, carried, wins);
    carried = select_pair(carried, old, wins);
  }
#endfor
}
