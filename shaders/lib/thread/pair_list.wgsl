// A sorted list of K pairs in the registers of an invocation, by insertion.
#import order/pair

alias List = array<Pair, K>;

// For pairs in ascending order of index: ties stay behind, and all that follow move on by one.
fn insert_in_order(list: ptr<function, List>, pair: Pair) {
  var carried = pair;
#for i in K
  {
    let old = (*list)[$i];
    let wins = key_less(pair.key, old.key);
    (*list)[$i] = Pair(select(old.key, carried.key, wins), select(old.index, carried.index, wins));
    carried = Pair(select(carried.key, old.key, wins), select(carried.index, old.index, wins));
  }
#endfor
}

fn insert(list: ptr<function, List>, pair: Pair) {
  var carried = pair;
#for i in K
  {
    let old = (*list)[$i];
    let wins = before(pair, old);
    (*list)[$i] = Pair(select(old.key, carried.key, wins), select(old.index, carried.index, wins));
    carried = Pair(select(carried.key, old.key, wins), select(carried.index, old.index, wins));
  }
#endfor
}
