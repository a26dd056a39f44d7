// Quotients by a divisor that many share: a multiplication in place of some 25 operations each.
//
// Rounded up, 2^s / d is too large by less than 1, and n / 2^s too small to matter while n < 2^15
// and d <= 2^(s - 15). Granlund and Montgomery, "Division by invariant integers", 1994.

struct Divisor { by: u32, multiplier: u32, shift: u32 }

// For numbers below `end`. Those of 2^15 and more are divided one by one.
fn divisor_for(by: u32, end: u32) -> Divisor {
  let shift = 15u + firstLeadingBit(2u * by - 1u);
  if (max(by, end) > 0x8000u) { return Divisor(by, 0u, 0u); }
  return Divisor(by, ((1u << shift) + by - 1u) / by, shift);
}

fn quotient(number: u32, divisor: Divisor) -> u32 {
  if (divisor.multiplier == 0u) { return number / divisor.by; }
  return (number * divisor.multiplier) >> divisor.shift;
}
