// What a team does together with its lists of words: the first words of all, least, largest.
//
// A team of one needs neither memory nor barriers.
#import thread/word_list

#if TEAM > 1
#import workgroup/any
#import workgroup/range_in_memory

var<workgroup> exchange: array<u32, WORKGROUP * KEEP>;

// All invocations call it first.
fn begin_teams(local: u32) {
  begin_any(local);
  begin_range(local);
  workgroupBarrier();
}

// The first of all the team's words, known to each of its invocations.
fn merge_team(words: ptr<function, Words>, local: u32) {
  for (var reach = 1u; reach < TEAM; reach *= 2u) {
    workgroupBarrier();
#for i in KEEP
    exchange[$iu * WORKGROUP + local] = (*words)[$i];
#endfor
    workgroupBarrier();
#for i in KEEP
    (*words)[$i] = min((*words)[$i], exchange[(KEEP - $[i + 1]u) * WORKGROUP + (local ^ reach)]);
#endfor
    sort_words(words);
  }
}

#else

fn begin_teams(local: u32) {}
fn range_in_memory(local: u32, mine: vec2<u32>) -> vec2<u32> { return mine; }
fn merge_team(words: ptr<function, Words>, local: u32) {}
fn any_of_all(local: u32, mine: bool) -> bool { return mine; }

#endif
