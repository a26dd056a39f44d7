// Fits lists of candidates to their room: input, delegates, counts, lists, thresholds -> the lists.
//
// A list of up to params.longest pairs stays. A longer one is cut to that, or to k. Where there
// were too many pairs to be listed, the subsets are read again.
#import io/source
#import io/delegates
#import workgroup/kept_list

var<workgroup> chosen: array<u32, WORKGROUP>;
var<workgroup> chosen_count: atomic<u32>;

// How many pairs asked for a place in the list.
fn asked_for(local: u32, sequence: u32) -> u32 { return same_for_all(local, atomicLoad(&counts[sequence])); }

// Chooses among the subsets from `first` on, one an invocation. Returns the chosen ones' loads.
fn choose_subsets(local: u32, sequence: u32, first: u32, threshold: Pair) -> u32 {
  if (local == 0u) { atomicStore(&chosen_count, 0u); }
  workgroupBarrier();
  let subset = first + local;
  if (subset < params.subsets && !before(threshold, delegate_at(sequence, min(subset, params.subsets - 1u)))) {
    chosen[atomicAdd(&chosen_count, 1u)] = subset;
  }
  workgroupBarrier();
  return same_for_all(local, atomicLoad(&chosen_count)) * params.members;
}

// Lists what does not come after the threshold in the w-th of the chosen subsets' loads.
fn list_load(row: Row, start: u32, w: u32, threshold: Pair) {
  let v = chosen[w / params.members] + w % params.members * params.subsets;
  list_items(row, start, v, threshold);
}

// Cuts a list to params.longest pairs at most, the first k among them. Returns its length. A list
// that overflowed is made again in steps. One without room for a step is trimmed first.
fn trimmed(local: u32, sequence: u32, start: u32, wanted: u32) -> u32 {
  let row = row_of(sequence);
  let fits = wanted <= params.places;
  var threshold = listed(threshold_place(sequence), 0u);
  if (local == 0u) { atomicStore(&filled, 0u); }
  // The next subset to look at, the loads of the chosen of the last ones, and those already read.
  var next = select(0u, params.subsets, fits);
  var count = select(0u, wanted, fits);
  var again = 0u;
  var step = 0u;
  loop {
    let over = step >= again && next >= params.subsets;
    if (count > select(most_listed(), params.longest, over)) {
      threshold = keep_first(local, start, count);
      count = begin_with(local, same_for_all(local, atomicLoad(&kept)));
    }
    if (over) { break; }
    if (step >= again) {
      again = choose_subsets(local, sequence, next, threshold);
      step = 0u;
      next += WORKGROUP;
      continue;
    }
    if (local < readers() && step + local < again) { list_load(row, start, step + local, threshold); }
    step += readers();
    count = count_listed(local);
  }
  return count;
}
