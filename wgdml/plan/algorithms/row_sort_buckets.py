"""Whole sequences in workgroup memory, by buckets. One read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink
from .base import Algorithm
from .parts import bins_of, held_bytes

_WORDS = 4  # of keys that an invocation carries: more of them wait for each other in its registers
_WORKGROUP = 64  # invocations at least
_BINS = 4  # of an invocation, where there is room


@dataclass(frozen=True)
class RowSortBucketsPolicy:
    """Buckets of pairs, a workgroup a sequence."""

    #: Buckets of more pairs than this take less than a bitonic sort, and rows of half as many
    #: items of 64 bits (benchmarks/LOG.md#rows-by-buckets-2026-11-24-79fda52).
    min_length: int = number(512, 32, 8192)
    #: They take less than a radix sort of rows, too, where there are no more than this: it has more
    #: to wait for (the same figures).
    few: int = number(128, 0, 1 << 20)


class _Shape(NamedTuple):
    workgroup: int
    loads: int  # of an invocation
    places: int  # of the list
    digit: int  # There are 2**digit bins.


class RowSortBuckets(Algorithm[RowSortBucketsPolicy]):
    """Sequences of pairs, or of elements of 32 and 64 bits in any layout."""

    name = "row_sort_buckets"
    summary = "buckets of whole sequences in workgroup memory, then counting; one read"
    takes_counts = True

    def prefers(self, problem: Problem) -> bool:
        """Do buckets take less than the other sorts of a whole sequence?"""
        p, length = self.policy, problem.length
        if problem.pairs or problem.key_words > 1:
            return length > p.min_length // problem.key_words
        return length > p.min_length and problem.sequences <= p.few

    def check(self, problem: Problem) -> _Shape:
        self.check_first(problem)
        source = problem.source
        # Loads of narrow elements bring so many that most invocations would have none.
        wide = problem.pairs or problem.format.bytes >= 4
        self.require(wide, f"takes elements of 32 bits and more, not {problem.length} narrower ones")
        items = source.most_loads * source.per_load
        workgroup = max(_WORKGROUP, power_of_two_above(ceil_div(items * problem.key_words, _WORDS)))
        loads = ceil_div(source.most_loads, workgroup)
        places = loads * workgroup * source.per_load
        # Beside the list a word a bin, and two an invocation for `lib/workgroup/scan.wgsl`.
        bins = self.memory - held_bytes(problem) * places - 8 * workgroup - 64
        fits = workgroup <= self.machine.widest_workgroup and bins >= 4 * workgroup
        self.require(fits, f"takes sequences that fit this adapter's workgroup memory, not {problem.length} items")
        return _Shape(workgroup, loads, places, power_of_two_below(min(bins // 4, _BINS * workgroup)).bit_length() - 1)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape = self.check(problem)
        program.dispatch(
            "row_sort/buckets",
            problem.sequences,
            source=problem.source,
            sink=sink,
            constants={
                "WORKGROUP": shape.workgroup,
                "LOADS": shape.loads,
                "PLACES": shape.places,
                "CARRIED": shape.places // shape.workgroup,
                **bins_of(shape.digit, shape.workgroup),
            },
            params={"k": problem.k},
        )
