"""The assembly of WGSL: imports, conditions, unrolling, and every mistake refused."""

import pytest

from wgdml import shaders
from wgdml.shaders import ShaderError, assemble


@pytest.fixture
def files(monkeypatch):
    """Assembles from a dictionary in place of the files."""
    texts = {}

    def source(name):
        if name not in texts:
            raise ShaderError(f"there is no WGSL file named {name!r}")
        return texts[name]

    monkeypatch.setattr(shaders, "source", source)
    return texts


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
    assert {"reduce", "select", "sort_rows"} <= set(shaders.names())
    for name in shaders.names():
        assert shaders.source(name).startswith("// "), name
    with pytest.raises(ShaderError, match="no WGSL file"):
        shaders.source("nothing")
