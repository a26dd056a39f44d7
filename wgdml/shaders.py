"""The WGSL files: kernels, the libraries that they import, and what each of them asks for by name.

Pure text work, no GPU. The files lie in the project's ``shaders/`` folder (``wgdml/shaders/`` in an
installed wheel). Four directives, each alone on a line:

``#import NAME``
    the text of ``shaders/lib/NAME.wgsl``, once each.
``#if TERM [&& TERM ...]``, ``#else``, ``#endif``
    keep or drop lines. A term is ``NAME``, ``!NAME``, ``A == B`` or ``A > B``, of the kernel's
    constants and numbers.
``#for x in COUNT``, ``#endfor``
    repeat the lines with ``$x`` replaced by 0, 1, ... COUNT - 1: an unrolling without the driver's
    compiler. ``$[...]`` is an integer expression of the loops' variables and the constants.

A kernel's text is its protocol: ``specialised`` reads from it which constants it uses and which
resources it binds, ``fields`` which parameters it reads. An unknown import, an unknown constant or
an unbalanced block is a ``ShaderError``, never a warning.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple


class ShaderError(Exception):
    """A shader file that cannot be assembled or compiled: a defect of the library."""


@cache
def _folder() -> Path:
    """The folder of the WGSL files: inside the installed package, else the checkout's own."""
    package = Path(__file__).resolve().parent
    for folder in (package / "shaders", package.parent / "shaders"):
        if folder.is_dir():
            return folder
    raise ShaderError("the WGSL files are missing: neither wgdml/shaders nor a checkout's shaders/ is there")


_added: list[Path] = []


def add_folder(folder: Path) -> None:
    """Kernels of another folder too. Their imports are looked for there and in the library's."""
    _added.append(folder)
    _forget()


def remove_folder(folder: Path) -> None:
    _added.remove(folder)
    _forget()


def _forget() -> None:
    for kept in (source, _found, _constants, _tree, _specialised):
        kept.cache_clear()


@cache
def names() -> tuple[str, ...]:
    """The library's kernels, sorted: paths within the folder, without those of ``lib/``."""
    paths = (path.relative_to(_folder()).with_suffix("").as_posix() for path in _folder().rglob("*.wgsl"))
    return tuple(sorted(name for name in paths if not name.startswith("lib/")))


@cache
def source(name: str) -> str:
    """The text of one WGSL file as it is on disk: ``"reduce/rows"``, ``"lib/order/key"``."""
    for folder in (_folder(), *_added):
        path = folder / f"{name}.wgsl"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise ShaderError(f"there is no WGSL file named {name!r}")


# ----------------------------------------------------------------------------
# A file as a tree of lines, conditions, loops and imports


@dataclass(frozen=True)
class _Template:
    """A text in which ``$x`` and ``$[...]`` stand for numbers."""

    text: str
    variables: tuple[str, ...]  #: Of the loops about it.
    where: str

    @cached_property
    def pieces(self) -> tuple[str | _Number, ...]:
        """Strings and what is between them."""
        if "$" not in self.text:
            return (self.text,)
        pieces: list[str | _Number] = []
        end = 0
        for match in _hole(self.variables).finditer(self.text):
            pieces += [self.text[end : match.start()], _number(match[match.lastindex or 1], self.variables, self.where)]
            end = match.end()
        return (*pieces, self.text[end:])

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The constants that its expressions ask for."""
        return tuple(name for piece in self.pieces if isinstance(piece, _Number) for name in piece.asked)

    def expanded(self, values: dict[str, Any]) -> str:
        """With the ``values`` of constants and variables in it."""
        pieces = self.pieces
        if len(pieces) == 1:
            return self.text
        try:
            return "".join([piece if isinstance(piece, str) else str(int(eval(piece.code, values))) for piece in pieces])
        except NameError as error:
            raise ShaderError(f"{self.where}: unknown constant {error.name!r}") from None
        except (TypeError, ZeroDivisionError) as error:
            raise ShaderError(f"{self.where}: cannot read the expression in {self.text.strip()!r}: {error}") from None


class _Number(NamedTuple):
    """An integer expression of constants and variables."""

    code: CodeType
    asked: tuple[str, ...]  #: The constants in it.


def _number(expression: str, variables: tuple[str, ...], where: str) -> _Number:
    names = _WORD.findall(expression)
    readable = _ARITHMETIC.fullmatch(_WORD.sub("0", expression)) and all(n in variables or n[0].isupper() for n in names)
    try:
        code = _compiled(expression.strip() if readable else "")
    except SyntaxError as error:
        raise ShaderError(f"{where}: cannot read the expression {expression!r}: {error}") from None
    return _Number(code, tuple(name for name in names if name not in variables))


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<shader>", "eval")


@cache
def _hole(variables: tuple[str, ...]) -> re.Pattern[str]:
    """What stands for a number: an expression, or a variable."""
    return re.compile(_EXPRESSION.pattern + (rf"|\$({'|'.join(variables)})(?=u?\b)" if variables else ""))


@dataclass(frozen=True)
class _Line(_Template):
    @cached_property
    def constants(self) -> frozenset[str]:
        """What may be constants in the line's code, but for its expressions."""
        return frozenset(_CONSTANT.findall(_code(_EXPRESSION.sub("0", self.text))))

    @cached_property
    def resource(self) -> tuple[str, Resource] | None:
        """The variable that it binds, and how."""
        match = _RESOURCE.search(_code(self.text))
        return match and (match[3], Resource(int(match[1]), _ACCESS[match[2]]))


@dataclass(frozen=True)
class _If:
    condition: _Template
    then: tuple[_Node, ...]
    otherwise: tuple[_Node, ...]


@dataclass(frozen=True)
class _For:
    variable: str
    count: str
    where: str
    body: tuple[_Node, ...]

    @cached_property
    def plain(self) -> bool:
        """Whether every turn has the same lines."""
        return all(isinstance(node, _Line) for node in self.body)


@dataclass(frozen=True)
class _Import:
    name: str


_Node = _Line | _If | _For | _Import

_DIRECTIVE = re.compile(r"^\s*#\s*(\w+)\s*(.*?)\s*$")
_LOOP = re.compile(r"^(\w+) in (\w+)$")
_TERM = re.compile(r"^(!?)(\w+)$|^(\w+)\s*(==|>)\s*(\w+)$")
_HOLDS = {"": operator.ne, "!": operator.eq, "==": operator.eq, ">": operator.gt}
_WORD = re.compile(r"[A-Za-z_]\w*")
_FIELD = re.compile(r"\bparams\.(\w+)")
_EXPRESSION = re.compile(r"\$\[([^]]*)\]")
_ARITHMETIC = re.compile(r"[-\d\s()+*/%&|^~<>]*")
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]*\b")
_RESOURCE = re.compile(r"@group\(0\) @binding\((\d+)\) var<(uniform|storage, read_write|storage, read)> (\w+):")


@cache
def _tree(name: str) -> tuple[_Node, ...]:
    lines = ((line, f"{name}.wgsl:{number}") for number, line in enumerate(source(name).splitlines(), 1))
    return _block(lines, name)[0]


def _block(
    lines: Iterator[tuple[str, str]], name: str, opened: str = "", variables: tuple[str, ...] = ()
) -> tuple[tuple[_Node, ...], str]:
    """The nodes up to what closes the block that ``opened`` names, and the directive that does.

    ``variables``: of the loops about it.
    """
    nodes: list[_Node] = []
    for line, where in lines:
        match = _DIRECTIVE.match(line)
        if match is None:
            nodes.append(_Line(line, variables, where))
            continue
        directive, rest = match.groups()
        if directive == "import":
            nodes.append(_Import(rest))
        elif directive == "if":
            then, closed = _block(lines, name, "if", variables)
            otherwise = _block(lines, name, "else", variables)[0] if closed == "else" else ()
            nodes.append(_If(_Template(rest, variables, where), then, otherwise))
        elif directive == "for":
            loop = _LOOP.match(rest)
            if loop is None:
                raise ShaderError(f"{where}: cannot read the loop {rest!r}")
            nodes.append(_For(loop[1], loop[2], where, _block(lines, name, "for", (*variables, loop[1]))[0]))
        elif (directive, opened) in (("else", "if"), ("endif", "if"), ("endif", "else"), ("endfor", "for")):
            return tuple(nodes), directive
        else:
            raise ShaderError(f"{where}: unexpected directive {line.strip()!r}")
    if opened:
        raise ShaderError(f"{name}.wgsl: {'a #for without its #endfor' if opened == 'for' else 'an #if without its #endif'}")
    return tuple(nodes), ""


def _code(line: str) -> str:
    return line.partition("//")[0]


# ----------------------------------------------------------------------------
# Which names a text uses


@cache
def _found(name: str, pattern: re.Pattern[str]) -> frozenset[str]:
    """What is found in a file and in those that it imports, whatever its conditions."""
    found: set[str] = set()
    for line in source(name).splitlines():
        directive = _DIRECTIVE.match(line)
        if directive and directive[1] == "import":
            found |= _found(f"lib/{directive[2]}", pattern)
        else:
            found.update(pattern.findall(_code(line)))
    return frozenset(found)


def words(name: str) -> frozenset[str]:
    """The words of a kernel's text, its imports' included."""
    return _found(name, _WORD)


@cache
def _constants(name: str) -> tuple[str, ...]:
    """The words of a kernel's text that may be constants, sorted."""
    return tuple(sorted(word for word in words(name) if _CONSTANT.fullmatch(word)))


def fields(name: str) -> frozenset[str]:
    """The parameters that a kernel's text reads, its imports' included."""
    return _found(name, _FIELD)


@cache
def layout() -> tuple[str, ...]:
    """The scalars of the one parameter block, in its order (``shaders/lib/io/params.wgsl``)."""
    body = re.search(r"struct Params \{(.*?)\n\}", source("lib/io/params"), re.DOTALL)
    if body is None:
        raise ShaderError("lib/io/params.wgsl has no struct Params")
    return tuple(re.findall(r"^\s*(\w+): u32,", body[1], re.MULTILINE))


@dataclass(frozen=True)
class Resource:
    """A variable that a buffer is bound to: its binding's number and WebGPU's type of binding."""

    slot: int
    access: str


_ACCESS = {"uniform": "uniform", "storage, read": "read-only-storage", "storage, read_write": "storage"}


@dataclass(frozen=True)
class Specialised:
    """A kernel for some values of its constants: those that its text uses, and what it binds."""

    kernel: str
    constants: tuple[tuple[str, int], ...]
    resources: Mapping[str, Resource]


class _Text:
    """A kernel's text for some constants; which of them it asks for, and what it binds."""

    def __init__(self, constants: Mapping[str, int]) -> None:
        #: Of constants, and of the variables of the loops about the line that is visited.
        self.values: dict[str, Any] = {"__builtins__": {}, **constants}
        self.imported: set[str] = set()
        self.used: set[str] = set()
        self.resources: dict[str, Resource] = {}

    def visit(self, nodes: tuple[_Node, ...], visitor: Callable[[_Line], None], once: bool = False) -> None:
        """Shows the lines that are kept, in their order.

        ``once``: of loops whose turns have the same lines, the first turn alone.
        """
        for node in nodes:
            if isinstance(node, _Line):
                visitor(node)
            elif isinstance(node, _If):
                self.visit(node.then if self.holds(node.condition) else node.otherwise, visitor, once)
            elif isinstance(node, _For):
                count = self.value(node.count, node.where)
                for i in range(min(count, 1) if once and node.plain else count):
                    self.values[node.variable] = i
                    self.visit(node.body, visitor, once)
            elif node.name not in self.imported:
                self.imported.add(node.name)
                self.visit(_tree(f"lib/{node.name}"), visitor, once)

    def note(self, line: _Line) -> None:
        """What a line uses, whatever the turns of the loops about it."""
        self.used.update(line.constants)
        for name in line.asked:
            self.value(name, line.where)
        if line.resource:
            self.resources[line.resource[0]] = line.resource[1]

    def value(self, token: str, where: str) -> int:
        if token.isdigit():
            return int(token)
        if token not in self.values:
            raise ShaderError(f"{where}: unknown constant {token!r}")
        self.used.add(token)
        return int(self.values[token])

    def holds(self, condition: _Template) -> bool:
        where = condition.where
        for name in condition.asked:
            self.value(name, where)
        terms = _terms(condition.expanded(self.values), where)
        return all(holds(self.value(left, where), self.value(right, where)) for left, holds, right in terms)


@cache
def _terms(condition: str, where: str) -> tuple[tuple[str, Callable[[int, int], bool], str], ...]:
    """Of each term of a condition: what it compares and how. A name alone is compared with 0."""
    terms = [_TERM.match(term.strip()) for term in condition.split("&&")]
    if not all(terms):
        raise ShaderError(f"{where}: cannot read the condition {condition!r}")
    return tuple((term[2] or term[3], _HOLDS[term[1] or term[4] or ""], term[5] or "0") for term in terms if term)


def specialised(name: str, constants: Mapping[str, int]) -> Specialised:
    """Kernel ``name`` with those of the constants that its text uses; the rest are left away.

    Equal answers mean equal texts. Raises ``ShaderError`` where the text asks for another constant.
    """
    return _specialised(name, tuple((word, constants[word]) for word in _constants(name) if word in constants))


@cache
def _specialised(name: str, constants: tuple[tuple[str, int], ...]) -> Specialised:
    text = _Text(dict(constants))
    text.visit(_tree(name), text.note, once=True)
    return Specialised(name, tuple(item for item in constants if item[0] in text.used), text.resources)


def assemble(name: str, constants: Mapping[str, int]) -> str:
    """The WGSL of kernel ``name``: its constants as ``const NAME: u32``, then the expanded text.

    Raises ``ShaderError`` for a missing file, an unknown constant or an unbalanced block.
    """
    head = [f"const {key}: u32 = {int(value)}u;" for key, value in sorted(constants.items())]
    text = _Text(constants)
    text.visit(_tree(name), lambda line: head.append(line.expanded(text.values)))
    return "\n".join(head) + "\n"
