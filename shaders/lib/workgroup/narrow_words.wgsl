// Words of keys of 8 and 16 bits, which hold positions as well: some loads of a row at a time.
// This takes few registers (benchmarks/LOG.md#narrow-rows-some-loads-at-a-time-2026-11-30-b101ed9).
//
// `best_words` are the kernel's: K of each team.
//   FETCH  loads at a time, whose items fill FETCH_BATCHES batches
#import io/put_ranks
#import thread/key_at
#import workgroup/merge_words

const PLACES: u32 = 0xffffffffu >> (8u * ELEMENT_BYTES);  // the bits that no key has

var<private> first_sequence: u32;  // of the workgroup

fn begin_words(local: u32) {}
fn settle_words(row: Row, lane: u32, local: u32, words: ptr<function, Words>) {}

// The loads of the next turn are under way meanwhile. Words have positions in place of places, and
// NO_WORD has the key of what is not there.
fn merge_row(row: Row, lane: u32, local: u32, words: ptr<function, Words>) {
  let last = row.loads - 1u;
#for f in FETCH
  var data$f = load(row, min($[f * TEAM]u + lane, last));
#endfor
  for (var v = lane; v < row.loads; v += $[FETCH * TEAM]u) {
#for f in FETCH
    let next$f = load(row, min(v + $[(FETCH + f) * TEAM]u, last));
#endfor
#for i in FETCH_BATCHES
    {
      var batch: Batch;
#for j in BATCH
      let place$j = v * PER_LOAD + $[(i * BATCH + j) // PER_LOAD * TEAM * PER_LOAD + (i * BATCH + j) % PER_LOAD]u;
      batch[$j] = key_at(row, place$j, data$[(i * BATCH + j) // PER_LOAD], $[(i * BATCH + j) % PER_LOAD]u) | (place$j - row.skew);
#endfor
      merge(words, &batch);
    }
#endfor
#for f in FETCH
    data$f = next$f;
#endfor
  }
}

fn ranked(slot: u32, rank: u32) -> Pair {
  let word = best_words[slot * K + rank];
  return Pair(word & ~PLACES, index_at(row_of(first_sequence + slot), word & PLACES));
}

// All results of the workgroup, side by side.
fn put_words(first: u32, local: u32) {
  first_sequence = first;
  put_ranks(first, min(max(params.sequences, first) - first, TEAMS), local);
}
