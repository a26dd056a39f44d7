// What arrives at a running top-k: pairs of the input in order, from an earlier dispatch.
#import io/arriving_items
#import io/source

fn arriving(sequence: u32) -> u32 { return params.length; }

fn arriving_key(sequence: u32, i: u32) -> Key { return load(row_of(sequence), i).key; }

fn arriving_entry(sequence: u32, i: u32, row: u32) -> Entry {
  let pair = load(row_of(sequence), i);
  return entry_of(sequence, Pair(pair.key, pair.index ^ params.index_flip), row);
}
