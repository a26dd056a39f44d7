// The best pair of each column of a load, kept as an invocation goes down the columns.
//   IN_ORDER  1 where items come in ascending order of index: only keys are compared
#import order/pair
#import io/columns

alias Bests = array<Pair, PER_LOAD>;

// At first; `index` is that of the first item, which stands where no key comes before the last one.
fn no_bests(index: u32) -> Bests {
  var bests: Bests;
#for c in PER_LOAD
  bests[$c] = Pair(LAST_KEY, index);
#endfor
  return bests;
}

fn better(candidate: Pair, best: Pair) -> Pair {
#if IN_ORDER
  let wins = key_less(candidate.key, best.key);
#else
  let wins = before(candidate, best);
#endif
  return select_pair(best, candidate, wins);
}
