"""Whole short sequences in a workgroup's registers, by a bitonic sort. One read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink, Source, View
from .base import Algorithm
from .parts import network, placed_words, teams_of_workgroup

#: A team has at least this many invocations where rows are few. Most subgroups are as large, and
#: exchange by shuffles. Of many rows, smaller teams exchange less
#: (benchmarks/LOG.md#small-teams-of-short-rows-2026-11-25-53872eb).
_FEWEST = 32
#: Invocations of a workgroup where a team has no more. Those of columns read and write so many more
#: of them side by side (benchmarks/LOG.md#pairs-side-by-side-2026-11-27-43b3c08).
_WORKGROUP = 64
_COLUMNS_WORKGROUP = 128


@dataclass(frozen=True)
class RowSortBitonicPolicy:
    """A network over pairs in registers."""

    #: A sequence has at most this many pairs
    #: (benchmarks/LOG.md#bitonic-sorts-by-shuffles-2026-11-24-b945986).
    max_length: int = number(8192, 16, 16384, powers=True)
    #: An invocation has this many pairs, or half where rows are few. More of them exchange less,
    #: and wait more for their registers (the same figures).
    items_per_thread: int = number(16, 2, 32, powers=True)
    #: A whole sequence is sorted where it has at most this many items for each of the k, and twice
    #: as many in rows where k is 32 and more (the same figures).
    share: int = number(4, 1, 64)


class _Shape(NamedTuple):
    source: Source
    items: int  # of an invocation
    team: int

    @property
    def size(self) -> int:
        return self.items * self.team


class RowSortBitonic(Algorithm[RowSortBitonicPolicy]):
    """Sequences of pairs or of elements in any layout."""

    name = "row_sort_bitonic"
    summary = "a bitonic sort of whole short sequences in registers; one read"
    takes_counts = True

    @property
    def capacity(self) -> int:
        """The most pairs that one workgroup sorts, with a word of each in its memory."""
        room = power_of_two_below(self.memory * 8 // 9 // 4)
        return min(16 * self.machine.widest_workgroup, room, self.policy.max_length)

    def check(self, problem: Problem) -> _Shape:
        self.check_first(problem)
        source = problem.source
        shape = self._shape(source, problem.sequences)
        if isinstance(source, View) and source.rows and source.vectors:
            # Wide loads may leave most invocations without any.
            narrow = self._shape(replace(source, vectors=False), problem.sequences)
            shape = narrow if narrow.size < shape.size else shape
        self.require(shape.size <= self.capacity, f"takes sequences of up to {self.capacity}, not {problem.length}")
        return shape

    def _shape(self, source: Source, sequences: int) -> _Shape:
        each, loads = self.policy.items_per_thread, source.most_loads
        if sequences <= self.occupancy.workgroups // 4:
            each //= 2
        team = power_of_two_above(ceil_div(loads * source.per_load, each))
        if 2 * sequences * team < self.occupancy.invocations:
            team = max(team, _FEWEST)
        workgroup = min(team, self.machine.widest_workgroup)
        return _Shape(source, power_of_two_above(ceil_div(loads, workgroup) * source.per_load), workgroup)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        source, items, team = self.check(problem)
        loads = ceil_div(source.most_loads, team)
        # Keys of columns lie apart, where words would have them read again.
        words = {"PLACED": 0} if problem.columns else placed_words(problem, loads * team * source.per_load, items * team)
        workgroup = _COLUMNS_WORKGROUP if problem.columns else _WORKGROUP
        teams = teams_of_workgroup(self.machine, team, 4 * (items + 1) * team, workgroup // team)
        program.dispatch(
            "row_sort/bitonic",
            ceil_div(problem.sequences, teams),
            source=source,
            sink=sink,
            constants=network(items) | words | {"TEAM": team, "WORKGROUP": teams * team, "LOADS": loads},
            params={"k": problem.k},
        )
