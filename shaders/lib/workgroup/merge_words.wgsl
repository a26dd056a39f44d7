// The first words of all the lists of a team. A team of one needs neither memory nor barriers.
//   TEAM  invocations of the largest team
#import thread/word_list

#if TEAM > 1
var<workgroup> exchange: array<u32, WORKGROUP * KEEP>;

// The first of all the team's words, known to each of its invocations. `largest` is of any team.
fn merge_team(words: ptr<function, Words>, local: u32, size: u32, largest: u32) {
  for (var reach = 1u; reach < largest; reach *= 2u) {
    workgroupBarrier();
#for i in KEEP
    exchange[$iu * WORKGROUP + local] = (*words)[$i];
#endfor
    workgroupBarrier();
    if (reach < size) {
#for i in KEEP
      (*words)[$i] = min((*words)[$i], exchange[(KEEP - $[i + 1]u) * WORKGROUP + (local ^ reach)]);
#endfor
      sort_words(words);
    }
  }
}
#else

fn merge_team(words: ptr<function, Words>, local: u32, size: u32, largest: u32) {}
#endif
