// What of each sequence takes part, and how many of its ranks are wanted:
// lengths, starts, counts -> spans. What lies beyond the axis, or k, is cut off.
//   LENGTHS, STARTS, COUNTS  1 where there is such a tensor
#import io/params
#import io/span_table

// The word of an element of so many bits, and whether another follows.
fn word_of(at: u32, form: u32) -> u32 { return select(at / (32u / min(form & 127u, 32u)), 2u * at, (form & 64u) > 0u); }

// An integer of 8 to 64 bits, as `form` says: 0 for a negative one, at most 2^32 - 1.
fn number_of(low: u32, high: u32, at: u32, form: u32) -> u32 {
  let bits = form & 127u;
  let signed = form > 127u;
  if (bits == 64u) { return select(select(low, 0xffffffffu, high > 0u), 0u, signed && (high >> 31u) > 0u); }
  let raw = (low >> (at % (32u / bits) * bits)) & (0xffffffffu >> (32u - bits));
  return select(raw, 0u, signed && (raw >> (bits - 1u)) > 0u);
}

#if LENGTHS
@group(0) @binding(1) var<storage, read> lengths: array<u32>;

fn length_at(at: u32) -> u32 {
  let word = word_of(at, params.length_form);
  return number_of(lengths[word], lengths[word + ((params.length_form & 64u) >> 6u)], at, params.length_form);
}
#else
fn length_at(at: u32) -> u32 { return params.longest; }
#endif
#if STARTS
@group(0) @binding(2) var<storage, read> starts: array<u32>;

fn start_at(at: u32) -> u32 {
  let word = word_of(at, params.start_form);
  return number_of(starts[word], starts[word + ((params.start_form & 64u) >> 6u)], at, params.start_form);
}
#else
fn start_at(at: u32) -> u32 { return 0u; }
#endif
#if COUNTS
@group(0) @binding(3) var<storage, read> counts: array<u32>;

fn count_at(at: u32) -> u32 {
  let word = word_of(at, params.count_form);
  return number_of(counts[word], counts[word + ((params.count_form & 64u) >> 6u)], at, params.count_form);
}
#else
fn count_at(at: u32) -> u32 { return params.k; }
#endif

fn run(workgroup: u32, local: u32) {
  let sequence = workgroup * WORKGROUP + local;
  if (sequence >= params.sequences) { return; }
  let at = sequence_offsets(sequence);
  let start = min(start_at(at.y), params.length);
  let length = min(length_at(at.x), min(params.longest, params.length - start));
  spans[sequence] = vec4<u32>(start, length, min(count_at(at.z), params.k), 0u);
}
