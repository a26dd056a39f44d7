// The brackets of each sequence, by a workgroup each end: estimates -> brackets.
//
// Half of an end's estimates, or nearly, come before the wanted pair. So one of the first, but for
// params.slack of them, is where a bracket begins, and one of the last is where it ends.
#import io/brackets
#import io/params
#import order/words

// [sequence][end][sample]
@group(0) @binding(7) var<storage, read_write> estimates: array<vec4<u32>>;

var<workgroup> estimated: array<vec3<u32>, WORKGROUP>;

fn run(end: u32, local: u32) {
  if (end >= params.sequences * params.ranks) { return; }
  let own = estimates[end * params.parts + min(local, params.parts - 1u)];
  let mine = own.xyz;
  estimated[local] = mine;
  workgroupBarrier();
  var earlier = 0u;
  for (var i = 0u; i < params.parts; i += 8u) {
#for u in 8
    let other$u = estimated[i + $uu];
#endfor
#for u in 8
    let precedes$u = words_before(other$u, mine) | ((i + $uu < local) & all(other$u == mine));
    earlier += select(0u, 1u, precedes$u & (i + $uu < params.parts));
#endfor
  }
  let wanted = select(params.slack, params.parts - 1u - params.slack, end % 2u == 1u);
  if (local < params.parts && earlier == wanted) { brackets[end] = own; }
}
