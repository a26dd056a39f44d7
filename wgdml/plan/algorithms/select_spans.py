"""Spans of contiguous elements, by work that follows their items. One read and a little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Pairs, Region, Sink, View
from .base import Algorithm
from .parts import LONGEST_LIST, list_size, word_lists
from .select_teams import bests_of, places_of

#: Invocations that hold spans. More would wait for each other, and few of their workgroups find
#: room at once (benchmarks/LOG.md#spans-by-small-workgroups-2026-11-25-81f8529).
_LARGEST_WORKGROUP = 32
_BATCH = 4  # words that are merged into a list at a time
_FEWEST = 16  # items that an invocation has room for
_MOST_PARTS = 1024  # of a span: their pairs are one workgroup's
_UNROLL = 4  # loads under way at once


@dataclass(frozen=True)
class SelectSpansPolicy:
    """Short spans in registers, and parts of long ones."""

    #: An invocation holds at most this many items of a short span
    #: (benchmarks/LOG.md#spans-by-small-workgroups-2026-11-25-81f8529).
    items: int = number(32, 16, 64, powers=True)
    #: An invocation has this many loads of a part. Fewer are more pairs to select from.
    part_loads: int = number(16, 1, 1 << 12)
    #: Segments of up to this many items, at most, are left to what takes rows
    #: (benchmarks/LOG.md#segments-in-parts-2026-11-24-1ab8c4f).
    min_length: int = number(1024, 4, 1 << 24)


class _Short(NamedTuple):
    workgroup: int
    team: int  # Invocations of the longest.
    loads: int  # Of an invocation.
    most: int  # Items of a short span.


class _Long(NamedTuple):
    items: int  # Of a part.
    room: int  # Parts that have places while there is room.
    places: int  # Places of parts in all.


class SelectSpans(Algorithm[SelectSpansPolicy]):
    """A short span gets as many invocations as hold its items, a long one as many parts."""

    name = "select_spans"
    summary = "short spans in registers, long ones in parts of one size; one read and a little"

    def check(self, problem: Problem) -> _Short | None:
        """What holds short spans. None where all are cut in parts."""
        source, k = problem.view, problem.k
        self.require(problem.ragged and source.rows, "takes lengths along an axis of contiguous elements")
        most = self.machine.workgroup // 2
        self.require(1 < k <= most, f"takes k from 2 to {most}, not k={k}")
        self.check_first(problem)
        if self.in_registers(problem):
            return self._short(source, k)
        self._places(problem)
        return None

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        short = self.check(problem)
        if short is not None:
            self._build_short(program, problem, sink, short)
        if short is None or problem.length > short.most:
            self._build_long(program, problem, sink, short.most if short else 0)

    # -- short spans --

    @staticmethod
    def in_registers(problem: Problem) -> bool:
        """Do short spans' keys and lists fit registers?"""
        return problem.key_words == 1 and 1 < problem.k <= LONGEST_LIST

    def _short(self, source: View, k: int) -> _Short:
        # Several invocations for most spans, each with items for a list.
        usual = source.covered // source.sharers
        wanted = max(_FEWEST, power_of_two_above(k), power_of_two_above(usual // 8))
        longest = power_of_two_above(source.most_loads * source.per_load)
        items = max(4, source.per_load, min(self.policy.items, wanted, longest))
        # A list of words and ten more for each invocation.
        most = power_of_two_below((self.memory - 512) // (4 * (items + list_size(k) + 11)))
        workgroup = min(_LARGEST_WORKGROUP, self.machine.widest_workgroup, most)
        team = min(workgroup, power_of_two_above(ceil_div(source.most_loads, items // source.per_load)))
        return _Short(workgroup, team, items // source.per_load, workgroup * items - source.per_load + 1)

    def _build_short(self, program: Program, problem: Problem, sink: Sink, shape: _Short) -> None:
        """A workgroup serves several sequences where there are enough to fill the machine."""
        sequences, k, source = problem.sequences, list_size(problem.k), problem.view
        together = max(1, min(shape.workgroup, sequences // self.occupancy.workgroups))
        program.dispatch(
            "select/spans",
            ceil_div(sequences, together),
            source=source,
            sink=sink,
            constants={
                "WORKGROUP": shape.workgroup,
                "CLASSES": shape.team.bit_length(),
                "LOADS": shape.loads,
                **word_lists(k, _BATCH),
            },
            params={"k": problem.k, "neighbours": together, "longest": shape.most},
        )

    # -- long spans --

    def _places(self, problem: Problem) -> int:
        """Survivors that a workgroup's list has room for."""
        workgroup = self.machine.workgroup
        return places_of(self.machine, problem, workgroup, workgroup, 1)

    def _long(self, problem: Problem, shortest: int) -> _Long:
        """Parts, and room for those of spans that share no items. Others have a place each."""
        whole, sequences = problem.view.selection, problem.sequences
        longest = min(whole.length, whole.longest or whole.length)
        items = self.policy.part_loads * self.machine.workgroup * problem.view.per_load
        # All that are asked for are counted in 32 bits.
        items = max(items, ceil_div(longest, _MOST_PARTS), ceil_div(longest * sequences, 1 << 31))
        every = sequences * ceil_div(longest, items)
        elements = whole.length * (sequences // problem.view.sharers)
        room = min(every, 2 * elements // items + min(sequences, elements // max(1, shortest)))
        return _Long(items, room, room if room == every else room + sequences)

    def _build_long(self, program: Program, problem: Problem, sink: Sink, shortest: int) -> None:
        shape, sequences, k = self._long(problem, shortest), problem.sequences, problem.k
        table = program.words(4 + 4 * sequences + shape.places)
        program.clear(Region(table.offset, 16))
        program.dispatch(
            "util/parts",
            ceil_div(sequences, self.machine.workgroup),
            source=problem.source,
            bind={"part_table": table},
            params={"longest": shortest, "tile": shape.items, "tiles": shape.room},
        )
        bind, params = {"part_table": table}, {"tiles": shape.room}
        parts = replace(program.pairs(shape.places, k), length=_MOST_PARTS * k)
        self._select(program, problem, parts, min(self.occupancy.workgroups, shape.places), bind, params)
        found = replace(problem, source=parts)
        self._select(program, found, sink, min(self.occupancy.workgroups, sequences), bind, params)

    def _select(
        self, program: Program, problem: Problem, sink: Sink, workgroups: int, bind: Mapping[str, Region], params: Mapping[str, int]
    ) -> None:
        """The first k of each part, or of all of a span's, by workgroups that take turns."""
        places, k, workgroup = self._places(problem), problem.k, self.machine.workgroup
        pairs = isinstance(problem.source, Pairs)
        program.dispatch(
            "select/parts",
            workgroups,
            source=problem.source,
            sink=sink,
            bind=bind,
            constants={
                "WORKGROUP": workgroup,
                "WHOLE_TEAM": 1,
                "SIDE_BY_SIDE": 0,
                "UNROLL": _UNROLL,
                "LISTED": places,
                "IN_ORDER": int(not pairs),
            },
            params={"k": k, "team_bests": bests_of(k, workgroup), "places": places, "workgroups": workgroups, **params},
        )
