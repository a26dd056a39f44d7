// A bitonic network over the pairs that an invocation holds in registers; all sorts ascend.
// Batcher, "Sorting networks and their applications", 1968; merges mirror.
//   ITEMS_PER_THREAD  pairs of an invocation, a power of two; ITEM_BITS is its exponent
//   HALF              half of ITEMS_PER_THREAD: comparators of a step
#import order/held

alias Registers = array<Held, ITEMS_PER_THREAD>;

// Merges runs of half the registers, whose order is that of a mirrored step.
fn merge_registers(x: ptr<function, Registers>) {
#for b in ITEM_BITS
#for p in HALF
  {
    const A = $[2*(p - p%(HALF>>b)) + p%(HALF>>b)];
    const B = $[2*(p - p%(HALF>>b)) + p%(HALF>>b) + (HALF>>b)];
    let a = (*x)[A];
    (*x)[A] = first_held(a, (*x)[B]);
    (*x)[B] = last_held(a, (*x)[B]);
  }
#endfor
#endfor
}

// Sorts the registers: runs of 2, 4, 8 and so on. The first step of each merge mirrors.
fn sort_registers(x: ptr<function, Registers>) {
#for r in ITEM_BITS
#for s in ITEM_BITS
#if $[r + 1] > $s
#for p in HALF
  {
    const A = $[2*(p - p%(1<<r>>s)) + p%(1<<r>>s)];
    const B = $[(2*(p - p%(1<<r>>s)) + p%(1<<r>>s)) ^ ((1<<r>>s) + (s<1)*((1<<r) - 1))];
    let a = (*x)[A];
    (*x)[A] = first_held(a, (*x)[B]);
    (*x)[B] = last_held(a, (*x)[B]);
  }
#endfor
#endif
#endfor
#endfor
}
