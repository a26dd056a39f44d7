// Elements by their indices, each window with those it holds: input, indices -> values.
// Each result is a sequence: the batch has strides of input (0 along the axis), values and indices.
#import io/sink

// Negative indices count from the end. What lies beyond it, or before all, means the last element.
fn place_along(at: u32) -> u32 {
  let low = indices[at * params.index_words];
  let size = params.axes[0].w;
  let signed = params.index_form > 127u;
  var high = select(0u, 0xffffffffu, signed & ((low >> 31u) > 0u));
  if (params.index_words > 1u) { high = indices[at * params.index_words + 1u]; }
  if (high == 0u && low < size) { return low; }
  return select(size - 1u, low + size, signed & (high == 0xffffffffu) & (low >= 0u - size));
}

fn run(workgroup: u32, local: u32) {
  let at = workgroup * WORKGROUP + local;
  if (at >= params.sequences) { return; }
  let offsets = sequence_offsets(at);
  let place = place_of(place_along(offsets.z));
  if (place.inside) { put_value(offsets.y, element_at(offsets.x + place.offset)); }
}
