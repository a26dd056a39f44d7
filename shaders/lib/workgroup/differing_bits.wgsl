// Which bits differ among words of a workgroup.
var<workgroup> kth_ones: atomic<u32>;
var<workgroup> kth_zeros: atomic<u32>;
var<workgroup> kth_word: vec2<u32>;

// The bits that differ (x), and the common ones (y), of words whose ones and zeros are given.
fn differing_bits(local: u32, with_one: u32, with_zero: u32) -> vec2<u32> {
  if (local == 0u) {
    atomicStore(&kth_ones, 0u);
    atomicStore(&kth_zeros, 0u);
  }
  workgroupBarrier();
  if ((with_one | with_zero) != 0u) {
    atomicOr(&kth_ones, with_one);
    atomicOr(&kth_zeros, with_zero);
  }
  workgroupBarrier();
  if (local == 0u) {
    let all = vec2<u32>(atomicLoad(&kth_ones), atomicLoad(&kth_zeros));
    kth_word = vec2<u32>(all.x & all.y, all.x & ~all.y);
  }
  return workgroupUniformLoad(&kth_word);
}
