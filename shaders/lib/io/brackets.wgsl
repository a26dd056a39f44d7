// Brackets of pairs, each wide enough for the wanted ones: [bracket][first, last], the words of a
// pair each, most significant first.
@group(0) @binding(4) var<storage, read_write> brackets: array<vec4<u32>>;

fn low_of(bracket: u32) -> vec3<u32> { return brackets[2u * bracket].xyz; }
fn high_of(bracket: u32) -> vec3<u32> { return brackets[2u * bracket + 1u].xyz; }
