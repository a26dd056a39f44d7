// Elements by their indices: input, indices -> values. Of several windows of the input, each gives the elements that it holds.
//
// Every result is a sequence: the batch has strides of the input (0 along the axis), of the values and of the indices.
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
