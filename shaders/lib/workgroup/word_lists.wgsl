// What a team does together with its lists of words: the first words of all, least, largest.
//
// A team of one needs neither memory nor barriers.
#import thread/word_list

#if TEAM > 1
#import workgroup/doubts

var<workgroup> least_keys: array<atomic<u32>, TEAMS>;
var<workgroup> bound_keys: array<atomic<u32>, TEAMS>;
var<workgroup> exchange: array<u32, WORKGROUP * KEEP>;

// All invocations call it first.
fn begin_teams(slot: u32, lane: u32, local: u32) {
  clear_doubts(local);
  if (lane == 0u) {
    atomicStore(&least_keys[slot], 0xffffffffu);
    atomicStore(&bound_keys[slot], 0u);
  }
  workgroupBarrier();
}

// The least of the team's first numbers and the largest of its second ones.
fn range_of_team(slot: u32, mine: vec2<u32>) -> vec2<u32> {
  atomicMin(&least_keys[slot], mine.x);
  atomicMax(&bound_keys[slot], mine.y);
  workgroupBarrier();
  return vec2<u32>(atomicLoad(&least_keys[slot]), atomicLoad(&bound_keys[slot]));
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

fn begin_teams(slot: u32, lane: u32, local: u32) {}
fn range_of_team(slot: u32, mine: vec2<u32>) -> vec2<u32> { return mine; }
fn merge_team(words: ptr<function, Words>, local: u32) {}
fn any_doubts(local: u32, mine: bool) -> bool { return mine; }

#endif
