// Elements by their indices, each window with those it holds: input, indices -> values.
// Each result is a sequence: the batch has strides of input (0 along the axis), values and indices.
#import io/sink

// Negative indices count from the end. What then lies beyond it means the last element.
fn wrapped(index: u32) -> u32 {
  let size = params.axes[0].w;
  return min(select(index, index + size, index >= size), size - 1u);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let at = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  if (at >= params.sequences) { return; }
  let offsets = sequence_offsets(at);
  let place = place_of(wrapped(indices[offsets.z * params.index_words]));
  if (place.inside) { put_value(offsets.y, element_at(offsets.x + place.offset)); }
}
