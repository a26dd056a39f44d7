// How often each of BINS digits occurs in each group of a radix sort's tiles; after sort_scan in earlier groups, and behind the last one in
// all of them. ALONE: sort_count.wgsl.
#import params

@group(0) @binding(7) var<storage, read_write> groups: array<u32>;

// What neighbouring invocations ask for together lies side by side: digits, or where ALONE groups.
fn group_at(sequence: u32, group: u32, digit: u32) -> u32 {
#if ALONE
  return (sequence * BINS + digit) * (params.split + 1u) + group;
#else
  return (sequence * (params.split + 1u) + group) * BINS + digit;
#endif
}
