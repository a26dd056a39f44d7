// Whether any team of a workgroup doubts its list, as all of them must go on together then.
var<workgroup> doubts: atomic<u32>;
var<workgroup> shared_doubts: u32;

// Before a barrier ahead of `any_doubts`.
fn clear_doubts(local: u32) {
  if (local == 0u) { atomicStore(&doubts, 0u); }
}

// All invocations call it together, once after each `clear_doubts`.
fn any_doubts(local: u32, mine: bool) -> bool {
  if (mine) { atomicStore(&doubts, 1u); }
  workgroupBarrier();
  if (local == 0u) { shared_doubts = atomicLoad(&doubts); }
  return workgroupUniformLoad(&shared_doubts) != 0u;
}
