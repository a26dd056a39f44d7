"""WGSL assembly: one kernel file, the library files it imports and its constants become one shader text.

Pure text work, no GPU. The files live in the project's top-level ``shaders/`` folder (``wgdml/shaders/`` in an installed wheel).
Four directives, each alone on a line:

``#import NAME``
    the text of ``shaders/lib/NAME.wgsl``, once each.
``#if TERM [&& TERM ...]``, ``#else``, ``#endif``
    keep or drop lines; a term is ``NAME``, ``!NAME``, ``A == B`` or ``A > B``, of the kernel's constants and numbers.
``#for x in COUNT``, ``#endfor``
    repeat the lines with ``$x`` replaced by 0, 1, ... COUNT - 1: an unrolling that does not depend on the driver's compiler.
    ``$[...]`` is an integer expression, as Python has it, of the loops' variables and the constants.

An unknown import, an unknown constant or an unbalanced block is a ``ShaderError``, never a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

__all__ = ["ShaderError", "assemble", "names", "source"]


class ShaderError(Exception):
    """A shader file that cannot be assembled or compiled: a defect of the library, not of its input."""


@cache
def _folder() -> Traversable:
    """The folder of the WGSL files: inside the installed package, else the checkout's own."""
    packaged = files("wgdml") / "shaders"
    if packaged.is_dir():
        return packaged
    checkout = Path(__file__).resolve().parent.parent / "shaders"
    if checkout.is_dir():
        return checkout
    raise ShaderError("the WGSL files are missing: neither wgdml/shaders nor a checkout's shaders/ is there")


def names() -> list[str]:
    """The kernels' names, sorted."""
    return sorted(f.name.removesuffix(".wgsl") for f in _folder().iterdir() if f.name.endswith(".wgsl"))


@cache
def source(name: str) -> str:
    """The text of one WGSL file as it is on disk, for example ``"reduce"`` or ``"lib/key"``."""
    path = _folder().joinpath(*f"{name}.wgsl".split("/"))
    if not path.is_file():
        raise ShaderError(f"there is no WGSL file named {name!r}")
    return path.read_text(encoding="utf-8")


_DIRECTIVE = re.compile(r"^\s*#\s*(\w+)\s*(.*?)\s*$")
_TERM = re.compile(r"^(!?)(\w+)$|^(\w+)\s*(==|>)\s*(\w+)$")


class _Assembler:
    def __init__(self, constants: Mapping[str, int]) -> None:
        self.constants = constants
        self.imported: set[str] = set()

    def value(self, token: str, where: str) -> int:
        if token.isdigit():
            return int(token)
        if token not in self.constants:
            raise ShaderError(f"{where}: unknown constant {token!r}")
        return int(self.constants[token])

    def holds(self, condition: str, where: str) -> bool:
        results = []
        for term in condition.split("&&"):
            match = _TERM.match(term.strip())
            if match is None:
                raise ShaderError(f"{where}: cannot read the condition {condition!r}")
            negated, name, left, operator, right = match.groups()
            if name is not None:
                results.append((self.value(name, where) != 0) != bool(negated))
            elif operator == "==":
                results.append(self.value(left, where) == self.value(right, where))
            else:
                results.append(self.value(left, where) > self.value(right, where))
        return all(results)

    def expand(self, name: str) -> Iterator[str]:
        yield from self.block(source(name).splitlines(), name)

    def block(self, lines: list[str], name: str) -> Iterator[str]:
        number = 0
        taken: list[bool] = []  # one entry for each open #if: is this branch kept?
        while number < len(lines):
            line = lines[number]
            number += 1
            where = f"{name}.wgsl:{number}"
            match = _DIRECTIVE.match(line)
            if match is None:
                if all(taken):
                    yield line
                continue
            directive, rest = match.groups()
            if directive == "if":
                taken.append(all(taken) and self.holds(rest, where))
            elif directive == "else" and taken:
                taken[-1] = all(taken[:-1]) and not taken[-1]
            elif directive == "endif" and taken:
                taken.pop()
            elif directive == "import":
                if all(taken) and rest not in self.imported:
                    self.imported.add(rest)
                    yield from self.expand(f"lib/{rest}")
            elif directive == "for":
                end = _end_of_for(lines, number, where)
                loop = re.match(r"^(\w+) in (\w+)$", rest)
                if loop is None:
                    raise ShaderError(f"{where}: cannot read the loop {rest!r}")
                if all(taken):
                    for i in range(self.value(loop[2], where)):
                        yield from self.block([self.substitute(s, loop[1], i, where) for s in lines[number:end]], name)
                number = end + 1
            else:
                raise ShaderError(f"{where}: unexpected directive {line.strip()!r}")
        if taken:
            raise ShaderError(f"{name}.wgsl: an #if without its #endif")

    def substitute(self, line: str, variable: str, value: int, where: str) -> str:
        line = re.sub(r"\$" + variable + r"(?=u?\b)", str(value), line)

        def evaluate(match: re.Match[str]) -> str:
            expression = re.sub(rf"\b{variable}\b", str(value), match[1])
            numbers = re.sub(r"\b[A-Z]\w*", lambda name: str(self.value(name[0], where)), expression)
            if re.fullmatch(r"[-\d\s()+*/%&|^~<>]*", numbers) is None:
                return f"$[{expression}]"  # a loop inside this one has its turn
            try:
                return str(int(eval(numbers, {"__builtins__": {}})))
            except (SyntaxError, TypeError, ZeroDivisionError) as error:
                raise ShaderError(f"{where}: cannot read the expression {match[1]!r}: {error}") from None

        return re.sub(r"\$\[([^]]*)\]", evaluate, line)


def _end_of_for(lines: list[str], start: int, where: str) -> int:
    depth = 1
    for number in range(start, len(lines)):
        match = _DIRECTIVE.match(lines[number])
        if match is not None:
            depth += {"for": 1, "endfor": -1}.get(match[1], 0)
            if depth == 0:
                return number
    raise ShaderError(f"{where}: a #for without its #endfor")


def assemble(name: str, constants: Mapping[str, int]) -> str:
    """The complete WGSL of kernel ``name``: its constants as ``const NAME: u32``, then the expanded text.

    Raises ``ShaderError`` for a missing file, an unknown constant or an unbalanced block.
    """
    head = [f"const {key}: u32 = {int(value)}u;" for key, value in sorted(constants.items())]
    return "\n".join([*head, *_Assembler(constants).expand(name)]) + "\n"
