// The first k pairs of every short sequence, in order, by a bitonic sort in workgroup memory: source (bindings 1 to 3) -> sink (4, 5).
// A workgroup sorts TEAMS sequences of at most CAPACITY items each.
#import source
#import sink
#import bitonic

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let first = linear_workgroup(workgroup, grid) * TEAMS;
  for (var t = local; t < TEAMS * CAPACITY; t += WORKGROUP) { list_set(t, last_pair()); }
  workgroupBarrier();
  for (var team = 0u; team < TEAMS; team++) {
    let sequence = first + team;
    if (sequence < params.sequences) {
      let row = row_of(sequence);
      for (var q = local; q < row.loads; q += WORKGROUP) {
        let v = load_of(row, q);
        let data = load(row, v);
#for c in PER_LOAD
        let at$c = q * PER_LOAD + $cu - row.skew;
        let item$c = item(row, v, data, $cu);
        if (item$c.index != NO_INDEX) { list_set(team * CAPACITY + at$c, item$c); }
#endfor
      }
    }
  }
  sort_lists(local, CAPACITY);
  for (var t = local; t < TEAMS * params.k; t += WORKGROUP) {
    let team = t / params.k;
    let rank = t % params.k;
    if (first + team < params.sequences) { put(first + team, rank, list_get(team * CAPACITY + rank)); }
  }
}
