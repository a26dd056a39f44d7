// Exclusive prefix sums over the invocations of a workgroup (Hillis and Steele, "Data parallel algorithms", 1986).

var<workgroup> scan_words: array<vec4<u32>, WORKGROUP>;

struct Scan { before: vec4<u32>, total: vec4<u32> }

// All invocations call it together; ends with a barrier, so that it can be called again at once.
fn scan(local: u32, mine: vec4<u32>) -> Scan {
  var sum = mine;
  scan_words[local] = sum;
  for (var reach = 1u; reach < WORKGROUP; reach *= 2u) {
    workgroupBarrier();
    var left = vec4<u32>(0u);
    if (local >= reach) { left = scan_words[local - reach]; }
    workgroupBarrier();
    sum += left;
    scan_words[local] = sum;
  }
  workgroupBarrier();
  let total = scan_words[WORKGROUP - 1u];
  workgroupBarrier();
  return Scan(sum - mine, total);
}
