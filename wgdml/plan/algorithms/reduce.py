"""k = 1: a tree, by subgroups where there are some. One read."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import MEETING_BYTES, Pairs, Sink, Source, View
from .base import Algorithm, uses
from .columns import Columns
from .parts import class_above

_UNROLL = 4  # loads under way at once in a long scan
_WHOLE = 4  # loads, of which one is whole
_SIZES = 2  # of register tiles from one power of two to the next: each is a kernel
#: Up to so many columns side by side, of so many elements, are read as rows where parts of columns
#: would take a second dispatch
#: (benchmarks/LOG.md#short-columns-without-a-copy-2026-11-25-53872eb).
_BESIDE, _SMALL = 32, 1 << 20


@dataclass(frozen=True)
class ReducePolicy:
    """The best pair of each row."""

    #: An invocation of a short row has this many loads. Fewer idle lanes, more the machine
    #: (benchmarks/LOG.md#argmax-of-short-rows-2026-11-21-6059c3b).
    loads_per_thread: int = number(8, 2, 16)
    #: An invocation holds this many loads in registers, all under way at once, and twice as many
    #: where sequences are few
    #: (benchmarks/LOG.md#argmax-of-short-rows-2026-11-21-6059c3b).
    held_loads: int = number(16, 0, 32)
    #: Workgroups of up to this many invocations hold their loads so
    #: (benchmarks/LOG.md#rounds-of-loads-and-workgroups-of-a-long-row-2026-11-22-2ddee86).
    held_workgroup: int = number(512, 32, 1024, powers=True)


@dataclass
class _Shape:
    """How a dispatch over rows is cut."""

    team: int
    workgroup: int
    held: int  # Loads of an invocation that may all be under way at once.
    parts: int = 1  # Workgroups of a sequence. The last to arrive reduces what all have found.


class Reduce(Algorithm[ReducePolicy]):
    """The best pair of each sequence. Parts of few sequences meet at the end of the dispatch."""

    name = "reduce"
    summary = "the best pair by a tree; one read"
    takes_nothing = True
    columns = uses(Columns)

    def check(self, problem: Problem) -> None:
        self.require(problem.k == 1, f"finds the first pair only, not k={problem.k}")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        source, sequences = problem.source, problem.sequences
        if isinstance(source, View) and source.columns:
            shape = self.columns.reduction(source, sequences, problem.key_words)
            few = source.selection.batch[-1].size <= _BESIDE and sequences * source.length <= _SMALL
            if shape.parts == 1:
                self.columns.reduce(program, source, sink, shape)
                return
            if not few:  # One dispatch of few reads takes less than two.
                parts = program.pairs(sequences, shape.parts, side_by_side=True)
                self.columns.reduce(program, source, parts, shape)
                source = parts
        self.rows(program, source, sequences, sink)

    def rows(self, program: Program, source: Source, sequences: int, sink: Sink) -> None:
        """Sequences of any layout, each by one team of invocations or by several."""
        shape = self._shape(source, sequences, program.selection.format.key_words)
        if shape.parts > 1:
            self._last_block(program, source, sequences, sink, shape)
            return
        workgroup = max(shape.team, min(shape.workgroup, self.machine.workgroup))
        program.dispatch(
            "reduce/rows",
            ceil_div(sequences * shape.team, workgroup),
            source=source,
            sink=sink,
            constants={
                "WORKGROUP": workgroup,
                "WHOLE_TEAM": int(shape.team == workgroup),
                "SUBGROUPS": int(self.machine.subgroups and shape.team == workgroup),
                "IN_ORDER": int(program.in_order(source)),
                "UNROLL": _UNROLL,
                "LOADS": self._held(source, shape),
            },
            params={"team": shape.team},
        )

    def _last_block(self, program: Program, source: Source, sequences: int, sink: Sink, shape: _Shape) -> None:
        """The best pair of each sequence, by several workgroups each, in one dispatch."""
        program.dispatch(
            "reduce/last_block",
            sequences * shape.parts,
            source=source,
            sink=sink,
            bind={"meeting": program.arena.meeting()},
            constants={
                "WORKGROUP": shape.team,
                "LOADS_EACH": self.occupancy.loads_each,
                "IN_ORDER": int(program.in_order(source)),
                "UNROLL": _UNROLL,
            },
            params={"parts": shape.parts, "meeting_places": shape.parts},
        )

    def _held(self, source: Source, shape: _Shape) -> int:
        """Loads of an invocation that are under way at once, in few sizes; 0: too many for that.

        Rows with a whole load among a few have those of longer ones, and read it again.
        """
        loads = ceil_div(source.most_loads, shape.team)
        # Of spans a scan ends where they end.
        if not isinstance(source, View) or source.selection.ragged or loads > shape.held:
            return 0
        fewest = min(self.policy.loads_per_thread, shape.held)
        return class_above(loads if loads < _WHOLE else max(loads, fewest), _SIZES)

    def _shape(self, source: Source, sequences: int, key_words: int) -> _Shape:
        o, p, m = self.occupancy, self.policy, self.machine
        loads = source.usual_loads
        shape = _Shape(1, m.workgroup, p.held_loads)
        if sequences <= o.workgroups // 4:
            # Such a workgroup has a processor to itself.
            shape.workgroup, shape.held = self.columns.largest_workgroup(key_words), 2 * p.held_loads
            if loads <= shape.held * self._held_workgroup:
                shape.workgroup = min(shape.workgroup, self._held_workgroup)
        if isinstance(source, Pairs) and source.length <= 4096:
            shape.team = min(shape.workgroup, power_of_two_above(source.length))
            if shape.team >= 32 and sequences * m.workgroup <= o.invocations:
                # Idle invocations cost less than another kernel, where the machine has room.
                shape.team = max(shape.team, m.workgroup)
        else:
            self._team(shape, source, sequences, key_words)
        return shape

    def _team(self, shape: _Shape, source: Source, sequences: int, key_words: int) -> None:
        """An invocation for every few loads while the machine has room, else for twice as many."""
        o, p = self.occupancy, self.policy
        loads = source.usual_loads
        room = power_of_two_below(o.invocations // sequences)
        # Neighbours read a line of memory together.
        fewest = max(4, power_of_two_above(ceil_div(loads, 2 * p.loads_per_thread)))
        shape.team = min(shape.workgroup, power_of_two_above(loads // p.loads_per_thread), max(room, fewest))
        few = sequences <= o.workgroups // 64
        if loads <= shape.held * (self._held_workgroup if few else shape.workgroup):
            return
        cut = min(shape.workgroup, self._held_workgroup)
        most = (MEETING_BYTES // 4 // sequences - 2) // (key_words + 2)
        round_ = cut * o.loads_each
        parts = min(o.workgroups * self.machine.workgroup // (4 * sequences * cut), ceil_div(loads, round_), most)
        if parts * cut > shape.workgroup and cut >= 8:
            shape.parts, shape.team = parts, cut

    @property
    def _held_workgroup(self) -> int:
        return min(self.policy.held_workgroup, self.machine.widest_workgroup)
