"""Subgroups of any size on any adapter: WGSL's built-ins in a kernel's text become functions.

WGSL promises neither the size of a subgroup, from 4 to 128, nor which invocations share one. So an
emulation has a size, and deals the invocations of a workgroup in order or shuffled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FUNCTIONS = (Path(__file__).parent / "subgroups.wgsl").read_text(encoding="utf-8")
_NAMES = tuple(re.findall(r"^fn emulated_([A-Z]\w*)\(", _FUNCTIONS, re.MULTILINE))
_CALL = re.compile(r"\bsubgroup([A-Z]\w*)\(")
_MAIN = re.compile(r"(\bfn main\([^{]*\blocal: u32\) \{)")
_LETTERS = "xyzw"


@dataclass(frozen=True)
class Emulation:
    """Subgroups of so many invocations."""

    lanes: int
    shuffled: bool

    def __str__(self) -> str:
        return f"{self.lanes}{'-shuffled' if self.shuffled else ''}"

    def apply(self, text: str) -> str:
        """A kernel's text without built-ins of subgroups; its own, where it has none."""
        if not _CALL.search(text):
            return text
        wide: set[tuple[str, int]] = set()

        def renamed(call: re.Match[str]) -> str:
            name = call[1]
            assert name in _NAMES, f"subgroup{name} has no emulation"
            size = 1 if name == "Ballot" else _components(_type_of(_argument(text, call.end()), text[: call.start()], text))
            if size > 1:
                wide.add((name, size))
            return f"emulated_{name}{size if size > 1 else ''}("

        # The workgroup's size has no factor of 5, so that every invocation has a place of its own.
        place = "(local * 5u + 3u) % WORKGROUP" if self.shuffled else "local"
        changed, entries = _MAIN.subn(rf"\1 emulated_place = {place};", _CALL.sub(renamed, text))
        assert entries == 1, "the kernel's main has no local_invocation_index of this name"
        constants = f"const LANES: u32 = {self.lanes}u;\n"
        return changed + constants + _FUNCTIONS + "".join(_by_component(*own) for own in sorted(wide))


#: Every size that WebGPU allows.
EMULATIONS = tuple(Emulation(lanes, shuffled) for lanes in (4, 8, 16, 32, 64, 128) for shuffled in (False, True))


def _by_component(name: str, size: int) -> str:
    """A built-in's emulation for vectors."""
    more = ", other: u32" if name.startswith("Shuffle") else ""
    vector = f"vec{size}<u32>"
    parts = ", ".join(f"emulated_{name}(words.{c}{', other' if more else ''})" for c in _LETTERS[:size])
    return f"fn emulated_{name}{size}(words: {vector}{more}) -> {vector} {{ return {vector}({parts}); }}\n"


def _argument(text: str, start: int) -> str:
    """The first argument of a call whose parenthesis opens before ``start``."""
    depth = 0
    for end in range(start, len(text)):
        if depth == 0 and text[end] in ",)":
            return text[start:end]
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[end], 0)
    raise AssertionError("a call without an end")


def _type_of(argument: str, before: str, text: str) -> str:
    """The type of an argument: of a register of a sort, of a name declared before, or a word."""
    known = "Held" if argument.startswith("(*x)[") else "u32"
    if re.fullmatch(r"[a-z]\w*", argument):
        declared = re.findall(rf"\b{argument}: ([\w<>]+)|\b(?:let|var) {argument} = (\w+)", before)
        known = "".join(declared[-1]) if declared else known
        if constant := re.search(rf"\bconst {known}: (\w+) =", text):
            known = constant[1]
    while alias := re.search(rf"\balias {known} = ([\w<>]+);", text):
        known = alias[1]
    return known


def _components(kind: str) -> int:
    vector = re.fullmatch(r"vec(\d)<u32>", kind)
    return int(vector[1]) if vector else 1
