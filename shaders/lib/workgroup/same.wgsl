// A word that the first invocation of a workgroup has, for all of it: known to be the same for all.
var<workgroup> shared_word: u32;

// All of a workgroup call it together.
fn same_for_all(local: u32, word: u32) -> u32 {
  if (local == 0u) { shared_word = word; }
  return workgroupUniformLoad(&shared_word);
}
