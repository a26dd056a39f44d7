// The last pair of each sequence, of those that workgroups met: lasts -> pairs.
#import io/params
#import io/rank_pairs
#import order/words

@group(0) @binding(9) var<storage, read_write> lasts: array<vec4<u32>>;  // [sequence][part], or 0

var<workgroup> latest: array<vec3<u32>, WORKGROUP>;

fn run(sequence: u32, local: u32) {
  if (sequence >= params.sequences) { return; }
  var mine = vec3<u32>();
  for (var part = local; part < params.parts; part += WORKGROUP) {
    let other = lasts[sequence * params.parts + part];
    if (other.w > 0u && words_before(mine, other.xyz)) { mine = other.xyz; }
  }
  latest[local] = mine;
  for (var reach = WORKGROUP / 2u; reach > 0u; reach /= 2u) {
    workgroupBarrier();
    if (local < reach && words_before(mine, latest[local + reach])) {
      mine = latest[local + reach];
      latest[local] = mine;
    }
  }
  if (local == 0u) { put_pair(sequence * params.sink_step + params.first_rank, pair_from(mine)); }
}
