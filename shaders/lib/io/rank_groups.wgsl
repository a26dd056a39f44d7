// Which of the wanted ranks fall into which bracket: in `bounds` the first of each, and their end.
@group(0) @binding(5) var<storage, read> bounds: array<u32>;
