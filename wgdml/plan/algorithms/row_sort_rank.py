"""Short lists of pairs, each placed by counting those before it. Nothing waits for anything."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine import ceil_div, power_of_two_above
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink
from .base import Algorithm
from .parts import pair_bytes, workgroup_with

_ITEMS = 16  # pairs that a workgroup ranks


@dataclass(frozen=True)
class RowSortRankPolicy:
    """Sorting by counting, whose work grows with the square of the length."""

    #: Lists of up to this many pairs are counted
    #: (benchmarks/LOG.md#lists-by-a-sample-sort-2026-11-25-3042fb8).
    max_length: int = number(2048, 16, 8192)
    #: All lists together cost up to this many comparisons (the same figures).
    max_work: int = number(1 << 21, 0, 1 << 62)


class RowSortRank(Algorithm[RowSortRankPolicy]):
    """The rank of a pair is the number of pairs before it."""

    name = "row_sort_rank"
    summary = "pairs placed by counting those before each; work grows with the square of the length"
    takes_counts = True

    def check(self, problem: Problem) -> None:
        self.require(problem.pairs, "takes pairs only")
        self.check_first(problem)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        length = problem.length
        widest = workgroup_with(self.machine, 2 * pair_bytes(problem.key_words) + 8, 512)
        program.dispatch(
            "row_sort/rank",
            problem.sequences * ceil_div(length, _ITEMS),
            source=problem.source,
            sink=sink,
            constants={
                "ITEMS": _ITEMS,
                "WORKGROUP": min(widest, max(self.machine.workgroup, power_of_two_above(length))),
            },
            params={"k": problem.k},
        )
