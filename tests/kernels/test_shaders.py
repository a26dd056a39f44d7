"""The assembly of WGSL: imports, conditions, unrolling, and every mistake refused."""

from pathlib import Path

import pytest

from wgdml import shaders
from wgdml.shaders import ShaderError, assemble


class Files:
    """A folder of kernels that a test fills."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setitem__(self, name: str, text: str) -> None:
        path = self.folder / f"{name}.wgsl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def files(tmp_path):
    shaders.add_folder(tmp_path)
    yield Files(tmp_path)
    shaders.remove_folder(tmp_path)


def test_constants_come_first_and_imports_once(files):
    files["a"] = "#import x\n#import y\nfn a() {}"
    files["lib/x"] = "#import y\nfn x() {}"
    files["lib/y"] = "fn y() {}"
    assert assemble("a", {"N": 3, "FLAG": True}).splitlines() == [
        "const FLAG: u32 = 1u;",
        "const N: u32 = 3u;",
        "fn y() {}",
        "fn x() {}",
        "fn a() {}",
    ]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("ON", True),
        ("!ON", False),
        ("OFF", False),
        ("!OFF", True),
        ("N == 4", True),
        ("N > 4", False),
        ("N > 3 && ON", True),
        ("N == M", False),
    ],
)
def test_conditions(files, condition, holds):
    files["a"] = f"#if {condition}\nyes\n#else\nno\n#endif"
    assert assemble("a", {"ON": 1, "OFF": 0, "N": 4, "M": 5}).splitlines()[-1] == ("yes" if holds else "no")


def test_nested_conditions_keep_to_their_branch(files):
    files["a"] = "#if A\n#if B\nab\n#else\na\n#endif\n#else\n#import missing\nnone\n#endif"
    assert assemble("a", {"A": 1, "B": 0}).splitlines()[2:] == ["a"]
    with pytest.raises(ShaderError, match="missing"):
        assemble("a", {"A": 0, "B": 0})


def test_unrolling(files):
    files["a"] = "#for i in N\n#for c in 2\nx$i[$cu] = y$[2 * i + c] + $[i ^ 1];\n#endfor\n#endfor"
    assert assemble("a", {"N": 2}).splitlines()[1:] == [
        "x0[0u] = y0 + 1;",
        "x0[1u] = y1 + 1;",
        "x1[0u] = y2 + 0;",
        "x1[1u] = y3 + 0;",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#import nothing", "nothing"),
        ("#if UNKNOWN\n#endif", "UNKNOWN"),
        ("#if A == B == C\n#endif", "cannot read"),
        ("#if 1\n", "#endif"),
        ("#for i in 3\n", "#endfor"),
        ("#for 3\n#endfor", "cannot read the loop"),
        ("#endif", "unexpected"),
        ("#define X", "unexpected"),
        ("#for i in 2\n$[1 / (i - i)]\n#endfor", "cannot read the expression"),
    ],
)
def test_mistakes_are_errors(files, text, message):
    files["a"] = text
    with pytest.raises(ShaderError, match=message):
        assemble("a", {"A": 1})


def test_the_files_are_there():
    assert {"reduce/rows", "select/rows", "util/emit"} <= set(shaders.names())
    for name in shaders.names():
        assert shaders.source(name).startswith("// "), name
    with pytest.raises(ShaderError, match="no WGSL file"):
        shaders.source("nothing")


def test_a_kernel_is_its_own_protocol(files):
    files["lib/io/x"] = "@group(0) @binding(3) var<storage, read> words: array<u32>;\nconst WIDE: u32 = 2u * WIDTH;"
    files["a"] = """
#import io/x
#if SUMS
@group(0) @binding(4) var<storage, read_write> sums: array<u32>;
#else
let x = params.length + OTHER; // NOTHING
#endif
#for i in COUNT
#if MORE > $i
y$i = params.k;
#endif
#endfor
"""
    constants = {"SUMS": 1, "OTHER": 2, "COUNT": 3, "MORE": 1, "WIDTH": 4, "NOTHING": 5, "UNKNOWN": 6}
    with_sums = shaders.specialised("a", constants)
    assert dict(with_sums.constants) == {"SUMS": 1, "COUNT": 3, "MORE": 1, "WIDTH": 4}
    assert {name: (r.slot, r.access) for name, r in with_sums.resources.items()} == {
        "words": (3, "read-only-storage"),
        "sums": (4, "storage"),
    }
    without = shaders.specialised("a", constants | {"SUMS": 0})
    assert dict(without.constants) == {"SUMS": 0, "OTHER": 2, "COUNT": 3, "MORE": 1, "WIDTH": 4}
    assert set(without.resources) == {"words"}
    assert shaders.fields("a") == {"length", "k"}
    assert shaders.specialised("a", constants | {"NOTHING": 7}) is with_sums, "equal texts are one"
    with pytest.raises(ShaderError, match="COUNT"):
        shaders.specialised("a", {"SUMS": 1})


def test_the_parameter_block_is_whole_vectors(files):
    names = shaders.layout()
    assert len(set(names)) == len(names) and {"sequences", "length", "k"} <= set(names)
    used = set().union(*(shaders.fields(name) for name in shaders.names())) - {"batch", "axes", "payload_strides"}
    assert used == set(names), "a field without use, or a use without a field"
