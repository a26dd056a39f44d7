"""Comments, docstrings and documentation keep to 100 columns."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 100

WGSL_COMMENT = re.compile(r"(^\s*|\s{2})//")  # in $[...] a single space stands before a division
PRAGMA = re.compile(r"# (type: ignore|noqa)(\[[\w, -]+\])?$")


def files(suffix: str, *folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob(f"*{suffix}")) if "node_modules" not in path.parts]


PYTHON = files(".py", "wgdml", "tests", "scripts", "demos", "benchmarks")
WGSL = files(".wgsl", "shaders", "wgdml", "demos")
MARKDOWN = [*sorted(ROOT.glob("*.md")), *files(".md", "docs", "demos", "benchmarks")]


def comments_of_python(text: str) -> Iterator[int]:
    """The numbers of the lines with comments, but for those that are orders to a tool."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not PRAGMA.match(token.string):
            yield token.start[0]


def docstrings(text: str) -> Iterator[int]:
    """The numbers of the lines of all docstrings."""
    owners = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, owners) and ast.get_docstring(node) is not None:
            yield from range(node.body[0].lineno, node.body[0].end_lineno + 1)


def prose(text: str) -> Iterator[int]:
    """The numbers of the lines of a page that are neither code, tables, pictures nor options."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        code ^= line.lstrip().startswith("```")
        if not code and not line.startswith(("|", "![", "    ")):
            yield number


def wide(path: Path, numbers: Iterator[int], text: str) -> list[str]:
    lines = text.splitlines()
    return [f"{path.relative_to(ROOT)}:{n}: {lines[n - 1]}" for n in sorted(set(numbers)) if len(lines[n - 1]) > LIMIT]


def test_python() -> None:
    found = []
    for path in PYTHON:
        text = path.read_text(encoding="utf-8")
        found += wide(path, (n for of in (comments_of_python, docstrings) for n in of(text)), text)
    assert not found, "\n".join(found)


def test_wgsl() -> None:
    found = []
    for path in WGSL:
        text = path.read_text(encoding="utf-8")
        found += wide(path, (n for n, line in enumerate(text.splitlines(), 1) if WGSL_COMMENT.search(line)), text)
    assert not found, "\n".join(found)


def test_pages() -> None:
    found = []
    for path in MARKDOWN:
        text = path.read_text(encoding="utf-8")
        found += wide(path, prose(text), text)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("of", "text", "numbers"),
    [
        (comments_of_python, "x = '# no'  # yes\ny = f()  # type: ignore[arg-type]\nz = 1  # type: ignore[x]  # why\n", [1, 3]),
        (docstrings, '"""One.\n\nTwo.\n"""\n\ndef f():\n    "yes"\n    "no"\n', [1, 2, 3, 4, 7]),
        (prose, "text\n| a |\n```sh\ncode\n```\n![picture](a.png)\n    option\n- item\n", [1, 5, 8]),
    ],
)
def test_what_counts(of, text: str, numbers: list[int]) -> None:
    assert list(of(text)) == numbers
