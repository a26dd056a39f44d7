"""Whole short sequences in order of index in workgroup memory, by a radix sort. One read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..machine import ceil_div
from ..policy import number
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Pairs, Sink
from .base import Algorithm
from .parts import class_above

_ITEMS = 16  # of an invocation
_INDEX_BITS = 14  # of a word, for the position: as row_sort/radix.wgsl has them
_SIZES = 4  # of teams from one power of two to the next: each is a kernel
#: A workgroup has this many invocations where a sequence takes no more
#: (benchmarks/LOG.md#bitonic-sorts-by-shuffles-2026-11-24-b945986).
_WORKGROUP = 64


@dataclass(frozen=True)
class RowSortRadixPolicy:
    """Stable passes over words in workgroup memory."""

    #: Passes over lists of more pairs, in order of index, take less than a bitonic sort, and over
    #: rows of 8 bits; of wider elements over rows of twice as many.
    #: 1 to 2048 (benchmarks/LOG.md#one-length-for-sorts-by-passes-2026-11-29-7565bcd).
    min_length: int = number(512, 1, 2048)


class _Shape(NamedTuple):
    team: int
    teams: int
    digit: int  # Bits of a digit.


class RowSortRadix(Algorithm[RowSortRadixPolicy]):
    """Items in order of index: a stable sort by key settles ties by index."""

    name = "row_sort_radix"
    summary = "a radix sort of whole short sequences in workgroup memory; one read"
    takes_counts = True

    def prefers(self, problem: Problem) -> bool:
        """Is the row so long that its passes take less than a bitonic sort?"""
        if isinstance(problem.source, Pairs):
            return problem.source.in_order and problem.length > self.policy.min_length
        return problem.length > self.policy.min_length * (1 if problem.format.bytes == 1 else 2)

    def check(self, problem: Problem) -> _Shape:
        length, source = problem.length, problem.source
        ordered = not isinstance(source, Pairs) or (source.in_order and source.spread is None)
        self.require(ordered, "takes lists in order of index, no others")
        self.require(length <= 1 << _INDEX_BITS, f"takes rows of up to {1 << _INDEX_BITS} items, not {length}")
        self.check_first(problem)
        shape = self.shape_of(length, 8 * problem.format.bytes)
        if shape is None:
            raise Unserved(f"row_sort_radix takes rows that fit this adapter's workgroup memory, not {length} items")
        return shape

    def shape_of(self, length: int, bits: int) -> _Shape | None:
        """Of a workgroup for rows of so many keys; None where that is too many for one."""
        m = self.machine
        # Fewer and wider passes pay where each of them is long.
        digit = 5 if length > 4096 and ceil_div(bits, 5) < ceil_div(bits, 4) else 4
        # Few sizes, of whole runs of 32: the banks of memory stay apart.
        team = ceil_div(class_above(ceil_div(length, _ITEMS), _SIZES), 32) * 32
        # An invocation's counters or words, whichever are more, and two words to scan.
        room = 4 * max(_ITEMS + 1, 1 << (digit - 1)) * team + 8 * team
        most = self.memory - 32
        if room > most or team > m.max_compute_invocations_per_workgroup:
            return None
        return _Shape(team, max(1, min(min(_WORKGROUP, m.workgroup) // team, most // room)), digit)

    @staticmethod
    def _part(bits: int, digit: int) -> int:
        """Bits of the key beside the index in a word: the most of those with the fewest passes."""

        def passes(part: int) -> int:
            return sum(ceil_div(min(part, bits - low), digit) for low in range(0, bits, part))

        return min(range(1, min(bits, 32 - _INDEX_BITS) + 1), key=lambda part: (passes(part), -part))

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        team, teams, digit = self.check(problem)
        bits = 8 * problem.format.bytes
        part = self._part(bits, digit)
        parts = ceil_div(bits, part)
        fetches = parts > 1 and (isinstance(sink, Pairs) or program.selection.has_values)
        program.dispatch(
            "row_sort/radix",
            ceil_div(problem.sequences, teams),
            source=problem.source,
            sink=sink,
            constants={
                "WORKGROUP": teams * team,
                "TEAM": team,
                "ITEMS_PER_THREAD": _ITEMS,
                "DIGIT": digit,
                "COUNTERS": 1 << (digit - 1),
                "PART": part,
                "PARTS": parts,
                "LOADS": max(1, _ITEMS // problem.source.per_load),
                "FETCH": int(fetches),
            },
            params={"k": problem.k},
        )
