"""The first few of short sequences on software adapters: a sorted list in registers. One read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..machine import ceil_div
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink, View
from .base import Algorithm, uses
from .serial_merge import SerialMerge
from .serial_subsets import Subsets, dispatch_invocations

_LOADS = 4  # of one item, that are looked at together
#: Longest column. Items of long columns lie in a page each
#: (benchmarks/LOG.md#lists-on-software-adapters-2026-11-28-46343b0).
_COLUMN = 1024
#: Lists of all rows, and items of each part, about
#: (benchmarks/LOG.md#lists-of-parts-on-software-adapters-2026-12-01-9611156).
_LISTS, _PART = 64, 512
_LONGEST_PART = 1 << 16  # items: a narrow key and a place in its part share a word
_PLACES = (8, 16, 32, 64)  # of a list: each is a kernel


@dataclass(frozen=True)
class SerialListsPolicy:
    """A list an invocation."""

    #: Lists serve k up to this. Each item is compared with all of a list
    #: (benchmarks/LOG.md#lists-on-software-adapters-2026-11-28-46343b0).
    max_k: int = number(16, 1, 64)


class SerialLists(Algorithm[SerialListsPolicy]):
    """An invocation a sequence, or a part of a long row, keeps its first k in order as it reads."""

    name = "serial_lists"
    summary = "a sorted list in registers, an invocation a sequence or a part of one; one read"
    merge = uses(SerialMerge)

    def check(self, problem: Problem) -> Subsets:
        self.check_first(problem)
        source, k = problem.source, problem.k
        fits = isinstance(source, View) and (source.rows or (source.columns and problem.length <= _COLUMN))
        self.require(fits, f"takes rows, and columns of up to {_COLUMN} items, not of {problem.length}")
        self.require(k <= self.policy.max_k, f"takes k up to {self.policy.max_k}, not k={k}")
        parts = self._parts(problem) if source.rows else 1
        subsets = Subsets.of(source, parts, apart=False, lanes=1)
        if subsets.count > 1:
            self.merge.check_lists(problem, subsets.count * k)
        return subsets

    @staticmethod
    def _parts(problem: Problem) -> int:
        """So many that processors are at work, and that places have room; each of many items."""
        wanted = min(_LISTS // problem.sequences, problem.length // _PART)
        return max(1, wanted, ceil_div(problem.length + problem.view.per_load, _LONGEST_PART - problem.view.per_load))

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        parts, source, sequences, k = self.check(problem), problem.source, problem.sequences, problem.k
        # A place more takes what is beyond k.
        ordered = program.pairs(sequences, parts.count * k + 1)
        dispatch_invocations(
            program,
            "serial/lists",
            sequences * parts.count,
            source=source,
            sink=ordered,
            constants=parts.constants(source)
            | {
                "K": next(places for places in _PLACES if places >= k),
                "LOADS": 1 if parts.per_load > 1 else _LOADS,
                "NARROW_KEYS": int(problem.format.bytes < 4),
            },
            params=parts.params(source, sequences) | {"k": k, "least": k},
        )
        if parts.count == 1:
            program.emit(ordered, sequences, k, [sink], k)
        else:
            self.merge.build(program, replace(problem, source=replace(ordered, length=parts.count * k)), sink)
