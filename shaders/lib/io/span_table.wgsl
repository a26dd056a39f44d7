// What util/spans.wgsl has found of each sequence: its start, its length, its count of ranks.

@group(0) @binding(11) var<storage, read_write> spans: array<vec4<u32>>;  // [sequence]
