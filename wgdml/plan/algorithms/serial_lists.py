"""The first few of short sequences on software adapters: a sorted list in registers. One read."""

from __future__ import annotations

from dataclasses import dataclass

from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink, View
from .base import Algorithm
from .serial_subsets import Subsets, dispatch_invocations

_LOADS = 4  # of one item, that are looked at together
#: Longest row and column. Items of long columns lie in a page each. Narrow keys' places have 16
#: bits (benchmarks/LOG.md#lists-on-software-adapters-2026-11-28-46343b0).
_ROW, _COLUMN = 4096, 1024
_PLACES = (8, 16, 32, 64)  # of a list: each is a kernel


@dataclass(frozen=True)
class SerialListsPolicy:
    """A list an invocation."""

    #: Lists serve k up to this. Each item is compared with all of a list
    #: (benchmarks/LOG.md#lists-on-software-adapters-2026-11-28-46343b0).
    max_k: int = number(16, 1, 64)


class SerialLists(Algorithm[SerialListsPolicy]):
    """An invocation a sequence keeps its first k in order as it reads."""

    name = "serial_lists"
    summary = "a sorted list in registers, an invocation a sequence; one read"

    def check(self, problem: Problem) -> None:
        self.check_first(problem)
        source = problem.source
        longest = _ROW if source.rows else _COLUMN if source.columns else 0
        fits = isinstance(source, View) and problem.length <= longest
        self.require(fits, f"takes rows of up to {_ROW} items and columns of {_COLUMN}, not {problem.length}")
        self.require(problem.k <= self.policy.max_k, f"takes k up to {self.policy.max_k}, not k={problem.k}")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        source, sequences, k = problem.source, problem.sequences, problem.k
        whole = Subsets.of(source, 1, apart=False)
        # A place more takes what is beyond k.
        ordered = program.pairs(sequences, k + 1)
        dispatch_invocations(
            program,
            "serial/lists",
            sequences,
            source=source,
            sink=ordered,
            constants=whole.constants(source)
            | {
                "K": next(places for places in _PLACES if places >= k),
                "LOADS": 1 if whole.per_load > 1 else _LOADS,
                "NARROW_KEYS": int(problem.format.bytes < 4),
            },
            params={"k": k, "least": k},
        )
        program.emit(ordered, sequences, k, [sink], k)
