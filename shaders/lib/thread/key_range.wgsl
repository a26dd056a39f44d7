// What bounds the first keys of a register tile, after the bits that no key uses are gone.
//   GROUPS  of an invocation's items, so that its team has K of them
#import thread/packed_words
#import thread/row_keys

fn use_bits(keys: ptr<function, Keys>) {
#for l in LOADS
#for c in PER_LOAD
  (*keys)[$[l * PER_LOAD + c]] >>= UNUSED;
#endfor
#endfor
}

// The least key, and the last of the groups' least ones.
fn range_of(keys: ptr<function, Keys>) -> vec2<u32> {
#for g in GROUPS
  var best$g = LAST_KEY >> UNUSED;
#endfor
#for l in LOADS
#for c in PER_LOAD
  best$[(l * PER_LOAD + c) % GROUPS] = min(best$[(l * PER_LOAD + c) % GROUPS], (*keys)[$[l * PER_LOAD + c]]);
#endfor
#endfor
  var range = vec2<u32>(best0);
#for g in GROUPS
  range = vec2<u32>(min(range.x, best$g), max(range.y, best$g));
#endfor
  return range;
}
