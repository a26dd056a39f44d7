// The first k pairs of each sequence's list, by counting those before: an invocation places ITEMS.
// pairs (source_keys, source_indices), counts -> sink
#import io/source
#import io/sink
#import io/counts

fn pair_from(at: u32) -> Pair { return Pair(source_keys[at], source_indices[at]); }

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid) * WORKGROUP + local;
  let teams = (params.length + ITEMS - 1u) / ITEMS;
  let sequence = id / teams;
  if (sequence >= params.sequences) { return; }
  let first = (id - sequence * teams) * ITEMS;
  let length = length_of(sequence);
  if (first >= length) { return; }
  let start = params.source_base + sequence * params.source_step;
  let step = params.source_item_step;
#for i in ITEMS
  var rank$i = 0u;
  let mine$i = pair_from(start + min(first + $iu, length - 1u) * step);
#endfor
  for (var at = start; at < start + length * step; at += step) {
    let other = pair_from(at);
#for i in ITEMS
    rank$i += select(0u, 1u, before(other, mine$i));
#endfor
  }
#for i in ITEMS
  if (first + $iu < length && rank$i < params.k) { put(sequence, rank$i, mine$i); }
#endfor
}
