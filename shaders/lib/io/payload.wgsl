// What is written in place of an index: the payload's element there, of as many words.
#import io/params

#if INPUT_SHARED
@group(0) @binding(12) var<storage, read_write> payload: array<u32>;
#else
@group(0) @binding(12) var<storage, read> payload: array<u32>;
#endif

fn payload_stride(d: u32) -> u32 { return params.payload_strides[d >> 2u][d & 3u]; }

// The payload's element of an item: the low word and, if there are two, the high one.
fn payload_of(sequence: u32, index: u32) -> vec2<u32> {
  var at = params.payload_base + index * params.payload_step;
  var rest = sequence;
  for (var d = 0u; d + 1u < params.batch_dims; d++) {
    let size = params.batch[d].x;
    let next = rest / size;
    at += (rest - next * size) * payload_stride(d);
    rest = next;
  }
  at += rest * payload_stride(params.batch_dims - 1u);
  let words = params.index_words;
  return vec2<u32>(payload[words * at], payload[words * at + words - 1u]);
}
