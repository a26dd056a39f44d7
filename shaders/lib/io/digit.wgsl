// The digit of a word that a pass of a radix sort looks at.
#import io/params

fn digit_in(word: u32) -> u32 { return (word >> params.digit_shift) & ((1u << params.digit_bits) - 1u); }
