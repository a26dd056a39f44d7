// Counts of 256 digits in each group of a radix sort's tiles, in `groups`. The scan turns them into
// counts in earlier groups, with the totals behind the last group.
#import io/params

const BINS: u32 = 256u;

@group(0) @binding(7) var<storage, read_write> groups: array<u32>;  // [sequence][group][digit]

fn group_at(sequence: u32, group: u32, digit: u32) -> u32 { return (sequence * (params.groups + 1u) + group) * BINS + digit; }
