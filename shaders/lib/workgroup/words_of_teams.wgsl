// What teams of unlike sizes do together with their lists of words: least, largest, first words.
#import thread/word_list
#import workgroup/team_sizes
#import workgroup/any

// By the team's first invocation.
var<workgroup> least_keys: array<atomic<u32>, WORKGROUP>;
var<workgroup> bound_keys: array<atomic<u32>, WORKGROUP>;
var<workgroup> exchange: array<u32, WORKGROUP * KEEP>;

// The least of the team's first numbers and the largest of its second ones. All call it together.
fn range_of_team(local: u32, lane: u32, mine: vec2<u32>) -> vec2<u32> {
  atomicStore(&least_keys[local], 0xffffffffu);
  atomicStore(&bound_keys[local], 0u);
  workgroupBarrier();
  atomicMin(&least_keys[local - lane], mine.x);
  atomicMax(&bound_keys[local - lane], mine.y);
  workgroupBarrier();
  return vec2<u32>(atomicLoad(&least_keys[local - lane]), atomicLoad(&bound_keys[local - lane]));
}

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
