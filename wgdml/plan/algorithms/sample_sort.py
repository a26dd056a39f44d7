"""Few lists and long sequences in order by a sample sort: many workgroups each, none waits."""

from __future__ import annotations

from typing import NamedTuple

from ..machine import ceil_div
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Pairs, Sink
from .base import Algorithm
from .parts import bins_of, class_above, class_below, sorted_at_once

#: Invocations of a workgroup: as many as leave memory for the list
#: (benchmarks/LOG.md#few-long-sorts-2026-11-30-be5e97d).
_WORKGROUPS = (1024, 512, 256)
_ITEMS = 16  # of an invocation, at least, in the largest ones
_SAMPLED = 8  # pairs of the sample for each part
_ROOM = 2.5  # parts of the mean size that a list has room for: one in 1000 is larger
_PART = 256  # pairs of a part, about, where there are processors for so many parts
_LISTS = 2  # sizes of a list from one power of two to the next
_FEWEST = 1024  # pairs that a list has room for: smaller ones would be more kernels
_LONGEST = 1 << 17  # items of a sequence: each part reads all of it
_SHORTEST = 256  # pairs of a list that it is preferred for
#: All lists together have up to this many pairs for each processor. Of more a workgroup a list
#: takes less, as it reads them once (benchmarks/LOG.md#lists-by-a-sample-sort-2026-11-25-3042fb8).
_PAIRS = 1024


class _Shape(NamedTuple):
    workgroup: int
    digit: int
    parts: int
    places: int


class SampleSort(Algorithm[None]):
    """Every workgroup finds the same splitters, reads all, and sorts what lies between two."""

    name = "sample_sort"
    summary = "whole sequences in parts between the splitters of a sample; each part reads all"
    takes_counts = True

    def prefers(self, problem: Problem) -> bool:
        """Are lists of pairs so few that many workgroups for each take less than one?"""
        processors, sequences, listed = self.occupancy.processors, problem.sequences, problem.listed
        few = 2 * sequences <= processors and sequences * listed <= _PAIRS * processors
        return problem.pairs and listed >= _SHORTEST and few

    def check(self, problem: Problem) -> _Shape:
        self.check_first(problem)
        source, length = problem.source, problem.length
        self.require(problem.pairs or problem.one_axis, "takes elements along one axis")
        self.require(not isinstance(source, Pairs) or source.spread is None, "takes pairs of one axis")
        self.require(length <= _LONGEST, f"takes sequences of up to {_LONGEST} items, not of {length}")
        sizes = _WORKGROUPS if length >= _ITEMS * max(_WORKGROUPS) else _WORKGROUPS[1:]
        shapes = (self._shape(problem, min(n, self.machine.widest_workgroup)) for n in sizes)
        shape = next(filter(None, shapes), None)
        if shape is None:
            raise Unserved(f"sample_sort takes fewer or shorter sequences than {problem.sequences} of {length} items here")
        return shape

    def _shape(self, problem: Problem, workgroup: int) -> _Shape | None:
        """Of workgroups of so many invocations; None where a part has no room in their memory."""
        digit = workgroup.bit_length() - 1  # a bin for each invocation
        most = class_below(sorted_at_once(problem, self.memory, workgroup, digit), _LISTS)
        wanted = ceil_div(problem.length, max(1, min(_PART, int(most / _ROOM))))
        parts = min(wanted, self.occupancy.processors // problem.sequences, most // _SAMPLED)
        places = class_above(max(int(_ROOM * problem.length / max(parts, 1)), _SAMPLED * parts, min(_FEWEST, most)), _LISTS)
        return _Shape(workgroup, digit, parts, places) if parts >= 1 and places <= most else None

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape = self.check(problem)
        program.dispatch(
            "sample_sort/parts",
            problem.sequences * shape.parts,
            source=problem.source,
            sink=sink,
            constants={
                "WORKGROUP": shape.workgroup,
                **bins_of(shape.digit, shape.workgroup),
                "SAMPLED": _SAMPLED,
                "PLACES": shape.places,
                "CARRIED": ceil_div(shape.places, shape.workgroup),
            },
            params={"k": problem.k, "parts": shape.parts},
        )
