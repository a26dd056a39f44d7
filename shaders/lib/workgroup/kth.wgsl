// The k-th of the pairs that a workgroup holds in registers, EACH an invocation, at most 32.
// It counts digits, most significant first. A digit begins with a bit that differs anywhere.
#import workgroup/bins

alias Items = array<Pair, EACH>;

// All invocations call it together, with k pairs or more among them, LAST_PAIR not counted.
// `any_pair` is the same for all; bits in common with theirs spare digits. As many as `slack` pairs
// more may precede or equal the pair returned, where that spares digits. All bins are left empty.
fn kth_of(items: ptr<function, Items>, any_pair: Pair, local: u32, k: u32, slack: u32) -> Pair {
#for i in EACH
  let words$i = words_of((*items)[$i]);
#endfor
  kth_clear(local);
  let first = words_of(any_pair);
  var mine = vec3<u32>();
  var open = 0u;  // a bit an item that may be the k-th: booleans take registers
#for i in EACH
  let there$i = (*items)[$i].index != NO_INDEX;
  mine |= select(vec3<u32>(), words$i ^ first, there$i);
  open |= select(0u, $[1 << i]u, there$i);
#endfor
  let differing = kth_differing(local, mine);
  var found = first & ~differing;

  var rank = k;
  var word = 0u;
  var high = 32u;
  while (word <= KEY_WORDS) {
    high = 32u - countLeadingZeros(word_of(differing, word) & ones(high));
    if (high == 0u) {
      word++;
      high = 32u;
      continue;
    }
    let size = min(high, KTH_DIGIT);
    let shift = high - size;
#for i in EACH
    let digit$i = (word_of(words$i, word) >> shift) & ones(size);
    if ((open & $[1 << i]u) != 0u) { atomicAdd(&kth_bins[digit$i], 1u); }
#endfor
    let place = kth_bin(local, rank);
    rank -= place.y;
    // Where all of them are wanted, or nearly all, every later bit may be a one.
    let settled = place.z - rank <= slack;
    let placed = (place.x << shift) | select(0u, ones(shift), settled);
#for w in 3
    found[$w] |= select(select(0u, 0xffffffffu, settled && word < $wu), placed, word == $wu);
#endfor
    if (settled) { break; }
#for i in EACH
    open &= ~select($[1 << i]u, 0u, digit$i == place.x);
#endfor
    high = shift;
  }
  return pair_from(found);
}
