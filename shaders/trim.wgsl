// Lists of candidates -> their first k, where they are so long that ranking them would take long, or were too long to be listed:
// input (binding 1), delegates (2, 3), thresholds (6, 7) -> lists (4, 5), counts (8). A workgroup serves a sequence.
// Lists of up to params.rank_count pairs are left alone.
//   CAPACITY, EACH  places of a list, and those of each invocation
//   STEP            invocations that read a load each between two looks at the room that is left
#import source
#import sink
#import subsets
#import kth

var<workgroup> chosen: array<u32, WORKGROUP>;
var<workgroup> chosen_count: atomic<u32>;
var<workgroup> filled: atomic<u32>;
var<workgroup> shared_word: u32;
var<workgroup> kept: atomic<u32>;

fn same_for_all(local: u32, word: u32) -> u32 {
  if (local == 0u) { shared_word = word; }
  return workgroupUniformLoad(&shared_word);
}

// The first k of the list's first `count`, at its beginning in any order, and the k-th of them.
fn keep_first(local: u32, sequence: u32, count: u32) -> Pair {
  let start = params.sink_base + sequence * params.sink_step;
  var items: Items;
#for i in EACH
  items[$i] = last_pair();
  if ($iu * WORKGROUP + local < count) {
    items[$i] = Pair(sink_keys[start + $iu * WORKGROUP + local], sink_indices[start + $iu * WORKGROUP + local]);
  }
#endfor
  let last = kth_of(&items, local, params.k, 0u);
  if (local == 0u) { atomicStore(&kept, 0u); }
  storageBarrier();
  workgroupBarrier();
#for i in EACH
  if (items[$i].index != NO_INDEX && !before(last, items[$i])) { put(sequence, atomicAdd(&kept, 1u), items[$i]); }
#endfor
  storageBarrier();
  workgroupBarrier();
  return last;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let id = linear_workgroup(workgroup, grid);
  let sequence = min(id, params.sequences - 1u);
  var count = 0u;
  if (local == 0u && id < params.sequences) { count = atomicLoad(&counts[sequence]); }
  count = same_for_all(local, count);
  if (count <= params.rank_count) { return; }

  if (count > CAPACITY) {
    // What was listed is forgotten. The subsets once more, a step at a time; a list without room for a step is trimmed first.
    let row = row_of(sequence);
    var threshold = threshold_of(sequence);
    if (local == 0u) { atomicStore(&filled, 0u); }
    count = 0u;
    for (var first = 0u; first < params.subsets; first += WORKGROUP) {
      if (local == 0u) { atomicStore(&chosen_count, 0u); }
      workgroupBarrier();
      let subset = first + local;
      if (subset < params.subsets && is_chosen(sequence, min(subset, params.subsets - 1u), threshold)) {
        chosen[atomicAdd(&chosen_count, 1u)] = subset;
      }
      workgroupBarrier();
      let again = same_for_all(local, atomicLoad(&chosen_count)) * params.members;
      for (var step = 0u; step < again; step += STEP) {
        if (count + STEP * PER_LOAD > CAPACITY) {
          threshold = keep_first(local, sequence, count);
          if (local == 0u) { atomicStore(&filled, params.k); }
          workgroupBarrier();
        }
        let w = step + local;
        if (local < STEP && w < again) {
          let v = chosen[w / params.members] + w % params.members * params.subsets;
          if (v < row.loads) {
            let data = load(row, v);
#for c in PER_LOAD
            {
              let candidate = item(row, v, data, $cu);
              if (candidate.index != NO_INDEX && !before(threshold, candidate)) {
                put(sequence, atomicAdd(&filled, 1u), candidate);
              }
            }
#endfor
          }
        }
        storageBarrier();
        workgroupBarrier();
        count = same_for_all(local, atomicLoad(&filled));
      }
    }
  }
  if (count > params.k) { _ = keep_first(local, sequence, count); }
  if (local == 0u) { atomicStore(&counts[sequence], min(count, params.k)); }
}
