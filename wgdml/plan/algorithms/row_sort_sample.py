"""Lists of thousands of pairs in order by a sample sort: several workgroups a list, none waits."""

from __future__ import annotations

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..problem import Problem
from ..program import Program
from ..regions import Sink
from .base import Algorithm

_WORKGROUP = 512  # invocations
_EACH = 64  # pairs of a part, about, where workgroups are few
_FEWEST = 4  # parts of a list, at least
_MOST = 64  # parts of a list: a sample is ordered by counting, whose work grows with its square
_ROOM = 768  # pairs of a part that there is room for
#: Pairs of a part, about, at most: counting takes their square
#: (benchmarks/LOG.md#parts-of-few-long-lists-2026-11-25-81f8529).
_LARGE = 256
_SMALLEST, _LARGEST = 256, 16384  # pairs of a list
#: All lists together have up to this many pairs for each processor. Of more a workgroup a list
#: takes less, as it reads them once (benchmarks/LOG.md#lists-by-a-sample-sort-2026-11-25-3042fb8).
_PAIRS = 1024


class RowSortSample(Algorithm[None]):
    """Splitters from a sample, and counting within each part."""

    name = "row_sort_sample"
    summary = "lists of pairs in parts between the splitters of a sample; each part reads the list"
    takes_counts = True

    def prefers(self, problem: Problem) -> bool:
        """Are lists so few that many workgroups for each take less than one?"""
        return problem.pairs and problem.sequences * problem.listed <= _PAIRS * self.occupancy.processors

    def check(self, problem: Problem) -> None:
        self.require(problem.pairs, "takes pairs only")
        listed = problem.listed
        self.require(_SMALLEST <= listed <= _LARGEST, f"takes lists of {_SMALLEST} to {_LARGEST} pairs, not of {listed}")
        self.check_first(problem)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        # Two workgroups for each processor: more would order more samples.
        most = min(_MOST, 2 * self.occupancy.processors // problem.sequences)
        parts = power_of_two_below(max(_FEWEST, min(problem.listed // _EACH, most)))
        parts = max(parts, min(_MOST, power_of_two_above(ceil_div(problem.listed, _LARGE))))
        program.dispatch(
            "row_sort/sample",
            problem.sequences * parts,
            source=problem.source,
            sink=sink,
            constants={"WORKGROUP": min(_WORKGROUP, self.machine.widest_workgroup), "ROOM": _ROOM},
            params={"k": problem.k, "parts": parts},
        )
