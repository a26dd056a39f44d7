// A bitonic network over the pairs that an invocation holds in registers; all sorts ascend.
// Batcher, "Sorting networks and their applications", 1968; merges mirror.
//   ITEMS_PER_THREAD  pairs of an invocation, a power of two; ITEM_BITS is its exponent
//   HALF              half of ITEMS_PER_THREAD: comparators of a step
#import order/held

alias Registers = array<Held, ITEMS_PER_THREAD>;

// Puts the first of two registers' pairs into the first.
fn compare_exchange(x: ptr<function, Registers>, a: u32, b: u32) {
  let low = (*x)[a];
  let high = (*x)[b];
  (*x)[a] = first_held(low, high);
  (*x)[b] = last_held(low, high);
}

// Merges runs of half the registers, whose order is that of a mirrored step.
fn merge_registers(x: ptr<function, Registers>) {
#for b in ITEM_BITS
#for p in HALF
  compare_exchange(x, $[2*(p - p%(HALF>>b)) + p%(HALF>>b)]u, $[2*(p - p%(HALF>>b)) + p%(HALF>>b) + (HALF>>b)]u);
#endfor
#endfor
}

// Sorts the registers: runs of 2, 4, 8 and so on. The first step of each merge mirrors.
fn sort_registers(x: ptr<function, Registers>) {
#for r in ITEM_BITS
#for p in HALF
  compare_exchange(x, $[2*(p - p%(1<<r)) + p%(1<<r)]u, $[(2*(p - p%(1<<r)) + p%(1<<r)) ^ ((2<<r) - 1)]u);
#endfor
#for s in ITEM_BITS
#if $r > $s
#for p in HALF
  compare_exchange(x, $[2*(p - p%((1<<r)>>(s+1))) + p%((1<<r)>>(s+1))]u, $[2*(p - p%((1<<r)>>(s+1))) + p%((1<<r)>>(s+1)) + ((1<<r)>>(s+1))]u);
#endfor
#endif
#endfor
#endfor
}
