// The first k pairs of every short row, in order, for a small k: input -> sink. One read.
//
// A team of TEAM invocations serves a row. An item is a word: its key above its place. Each
// invocation merges words into a list of KEEP = K + 1; then the team's lists are merged. The work
// is the same for all data. Of 8 and 16 bits a word has the whole key. Keys of 32 bits are packed.
//   K  one of a few numbers from params.k on
#import io/sink
#import workgroup/teams
#if 4 > ELEMENT_BYTES
#import workgroup/narrow_words
#else
#import workgroup/row_words
#endif

var<workgroup> best_words: array<u32, TEAMS * K>;

fn run(workgroup: u32, local: u32) {
  let first = workgroup * TEAMS;
  let slot = local / TEAM;
  let lane = local % TEAM;
  let row = row_of(min(first + slot, params.sequences - 1u));
  begin_words(local);
  var words: Words;
#for i in KEEP
  words[$i] = NO_WORD;
#endfor
  merge_row(row, lane, local, &words);
  merge_team(&words, local, TEAM, TEAM);
  settle_words(row, lane, local, &words);
  if (lane == 0u) {
#for i in K
    best_words[slot * K + $iu] = words[$i];
#endfor
  }
  workgroupBarrier();
  put_words(first, local);
}
