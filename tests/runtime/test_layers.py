"""The library's files stand one above the other: no circle, no private name, no extra at import."""

from __future__ import annotations

import ast
import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path

from checks import python

import wgdml

PACKAGE = Path(wgdml.__file__).parent
FILES = {
    ".".join(("wgdml", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

#: What wgpu-py, and cffi below it, have no public name for.
OF_WGPU = {
    "_parsed_types",
    "_device",
    "_internal",
    "_create_adapter",
    "_helpers",
    "_the_device",
    "_resolve",
    "_poll",
    "_poller",
    "_wgpu_set_input",
    "_wgpu_set_error",
    "_call_soon_threadsafe",
    "_state",
}


def imported(name: str) -> dict[str, set[str]]:
    """The modules that a module imports, wherever in its text, and the names it takes of each.

    Those for types alone are imported by nobody.
    """
    tree = ast.parse(FILES[name].read_text())
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    left = {inner for node in for_types for inner in ast.walk(node)}
    package = name if FILES[name].name == "__init__.py" else name.rpartition(".")[0]
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node in left:
            continue
        base = node.module or ""
        if node.level:
            parts = package.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1] + ([base] if base else []))
        for alias in node.names:
            module = f"{base}.{alias.name}" if f"{base}.{alias.name}" in FILES else base
            if module in FILES and module != name:
                found.setdefault(module, set()).add(alias.name)
    return found


def test_no_circle_of_imports():
    order = list(TopologicalSorter({name: set(imported(name)) for name in FILES}).static_order())
    assert order.index("wgdml.runtime.context") < order.index("wgdml.runtime.executor") < order.index("wgdml.runtime.device")


def test_only_the_runtime_knows_wgpu():
    """What stands below it is pure data."""
    pure = {name for name in FILES if re.match(r"wgdml\.(contract|selection|shaders|plan)\b", name)}
    assert len(pure) > 30 and not imported("wgdml.contract")
    for name in pure:
        assert imported(name).keys() <= pure, name
        assert not re.search(r"^\s*(import|from) wgpu", FILES[name].read_text(), re.MULTILINE), name


def test_no_private_name_of_another_file():
    for name in FILES:
        for module, names in imported(name).items():
            private = {n for n in names if n.startswith("_") and n not in ("_version", "__version__")}
            assert not private, f"{name} takes {private} from {module}"
    for name, path in FILES.items():
        nodes = list(ast.walk(ast.parse(path.read_text())))
        attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute) and re.match("_[a-z]", n.attr)}
        own = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
        own |= {n.target.id for n in nodes if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
        stored = [n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
        own |= {n.attr for n in stored if isinstance(n.value, ast.Name) and n.value.id == "self"}
        public = OF_WGPU | {"_replace", "_current_frames"}  # named tuples' and sys's only names
        assert attributes <= own | public, f"{name} uses {attributes - own - public}"


def test_importing_needs_numpy_and_wgpu_only():
    script = "import numpy, wgpu, sys; before = set(sys.modules); import wgdml; print(*(set(sys.modules) - before))"
    found = python(script).split()
    extra = {name.partition(".")[0] for name in found} - {"wgdml", "numpy"}
    assert not extra - set(sys.stdlib_module_names), extra
    assert not {"wgdml.dask", "wgdml.onnx", "wgdml.cli", "wgdml.bench", "wgdml.outofcore"} & set(found)
