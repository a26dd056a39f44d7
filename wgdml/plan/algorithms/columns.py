"""Reductions down adjacent sequences: neighbouring invocations read neighbouring columns."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..program import Program
from ..regions import Pairs, Region, Sink, View
from .base import Step
from .parts import class_above, pair_bytes, workgroup_with

#: Invocations read at least this many bytes of a row side by side, if it has them
#: (benchmarks/LOG.md#widths-of-teams-and-loads-2026-11-22-fbdb4ea).
_LINE = 512
#: So many where that spares a second dispatch: columns are fewer than would fill the machine, and a
#: workgroup has more of their rows (benchmarks/LOG.md#narrow-lines-2026-11-25-35e3d49).
_SECTOR = 32
#: So many, by a workgroup of so many invocations, where wider ones would leave processors idle
#: (benchmarks/LOG.md#narrow-workgroups-of-few-columns-2026-11-27-8b4535c).
_NARROWEST, _FEWEST = 16, 256
#: Results of columns up to this length change invocations and are written side by side
#: (benchmarks/LOG.md#results-written-side-by-side-2026-11-23-d8a3eaa).
_TRANSPOSED = 4


@dataclass(frozen=True)
class ColumnsPolicy:
    """The best pair of each column, or of subsets of it."""

    #: An invocation has this many loads under way at once
    #: (benchmarks/LOG.md#one-barrier-a-team-2026-11-21-7d61349).
    unroll: int = number(8, 1, 8, powers=True)
    #: Loads are wider than a word where each invocation keeps this many of them
    #: (benchmarks/LOG.md#widths-of-teams-and-loads-2026-11-22-fbdb4ea).
    loads: int = number(32, 0, 1 << 16)
    #: A load brings at most this many items where the best alone is wanted
    #: (benchmarks/LOG.md#widths-of-teams-and-loads-2026-11-22-fbdb4ea).
    items: int = number(4, 1, 16)


_TAIL = 4  # rows under way at once at the end of a run of delegates


@dataclass
class ColumnsShape:
    """How a dispatch down columns is cut."""

    words: int  # Of a load.
    per_load: int  # Adjacent sequences that a load serves.
    loads: int  # Loads that bring one position of every sequence.
    beside: int  # Of those, such as follow one another in memory.
    workgroup: int
    team: int = 1  # Rows of a workgroup.
    parts: int = 1

    @property
    def across(self) -> int:
        """Loads side by side in a workgroup, as many in each: few invocations may be idle."""
        most = self.workgroup // self.team
        # In few sizes: each is a kernel. Those from 64 on are multiples of 32, as subgroups are.
        return min(most, class_above(ceil_div(self.loads, ceil_div(self.loads, most)), 2)) if self.team > 1 else most

    @property
    def workgroups(self) -> int:
        return ceil_div(self.loads, self.across) * self.parts


class Columns(Step[ColumnsPolicy]):
    """Dispatches of ``shaders/reduce/columns.wgsl`` and ``shaders/delegates/columns.wgsl``."""

    name = "columns"

    def largest_workgroup(self, key_words: int) -> int:
        """Invocations of a workgroup whose tree of pairs finds room in its memory."""
        return workgroup_with(self.machine, pair_bytes(key_words), 256)

    def load(self, source: View, sequences: int = 0) -> tuple[int, int]:
        """Words of a load down columns, and the adjacent sequences that it serves.

        They are as many as every row can be cut in, to four words. For the best of each of so few
        ``sequences`` that this would leave invocations idle, they are fewer.
        """
        s = source.selection
        if s.ragged:
            return 1, 1  # Each has a span of its own.
        size = s.format.bytes
        strides = [d.input_stride for d in s.batch[:-1]] + [a.stride for a in s.axes]
        columns = s.batch[-1].size
        load = 1, 1
        for words in (1, 2, 4) if source.vectors else (1,):
            items = 4 * words // size
            if not items or any(n % items for n in (source.offset, *strides)):
                continue
            if sequences and words > 1 and items > self.policy.items:
                break
            loads = sequences // columns * ceil_div(columns, items) * source.length
            if sequences and words > max(1, size // 4) and loads < self.policy.loads * self.occupancy.invocations:
                break
            load = words, items
        return load

    def loads(self, source: View, sequences: int) -> int:
        """Loads that bring one position of every sequence."""
        columns = source.selection.batch[-1].size
        return sequences // columns * ceil_div(columns, self.load(source)[1])

    def reduction(self, source: View, sequences: int, key_words: int) -> ColumnsShape:
        """How the best of each sequence is found."""
        o, p = self.occupancy, self.policy
        shape = self._shape(source, sequences, self.load(source, sequences), self.largest_workgroup(key_words))
        cuts = max(1, min(o.workgroups * self.machine.workgroup // 4 // shape.loads, source.length // o.loads_each))
        size = shape.per_load * source.selection.format.bytes

        def rows(line: int) -> int:
            """As many at once, while each brings so many bytes, or all that lies side by side."""
            return power_of_two_below(min(cuts, shape.workgroup // min(shape.beside, shape.workgroup, max(1, line // size))))

        shape.team = rows(_LINE)
        # A few rounds more take less than a second dispatch, and so do narrow lines.
        rounds = 4 * p.unroll
        if source.length > rounds * shape.team:
            if source.length <= rounds * rows(_SECTOR):
                shape.team = rows(_SECTOR)
            else:
                shape.parts = max(1, cuts // shape.team)
        # Of few columns, narrower workgroups leave fewer processors idle.
        while shape.workgroup > _FEWEST and shape.across * size > _NARROWEST and 2 * shape.workgroups <= o.processors:
            shape.workgroup //= 2
        return shape

    def reduce(self, program: Program, source: View, sink: Sink, shape: ColumnsShape) -> None:
        """The best of each part of a sequence to the sink."""
        stored = pair_bytes(program.selection.format.key_words)
        tree, narrow = shape.team > 1, min(512, self.machine.widest_workgroup)
        transposed = not tree and shape.per_load > 1 and source.length <= _TRANSPOSED
        transposed = transposed and narrow * shape.per_load * stored <= min(32 << 10, self.memory)
        if transposed:
            shape.workgroup = narrow
        elif tree:
            # A few idle invocations cost less than another kernel.
            shape.workgroup = min(shape.workgroup, max(_FEWEST, power_of_two_above(shape.across * shape.team)))
        beside = shape.beside if shape.across % shape.beside == 0 else shape.across
        program.dispatch(
            "reduce/columns",
            shape.workgroups,
            source=source,
            sink=sink,
            constants=self._loads(program, source, shape)
            | {
                "ACROSS": shape.across,
                "TREE": int(tree),
                "TRANSPOSED": int(transposed),
                "TOGETHER": self._together(shape, stored),
                "UNROLL": self._unroll(ceil_div(source.length, shape.team * shape.parts)),
            },
            params={"parts": shape.parts, "team": shape.team, "beside": beside},
        )

    def delegates(self, program: Program, source: View, sequences: int, sink: Pairs, second_keys: Region) -> None:
        """The best of each strided subset to the sink, and the least key of the subset's others."""
        o = self.occupancy
        subsets = sink.length
        shape = self._shape(source, sequences, self.load(source), self.machine.workgroup)
        # Where subsets are too few to fill the machine, a team's rows share one.
        sharers = power_of_two_above(o.invocations // 2 // (subsets * shape.loads))
        shared, most = sharers > 1, min(32, shape.workgroup)
        if shared:
            shape.team = min(most, max(sharers, power_of_two_above(shape.workgroup // shape.loads)))
        # Else so many rows that no invocation is idle and neighbours write side by side.
        while not shared and shape.team < most and subsets % (2 * shape.team) == 0:
            if shape.team >= 8 and shape.workgroup // shape.team <= shape.loads:
                break
            shape.team *= 2
        every = subsets if shared else subsets // shape.team
        # More workgroups than fit at once run in waves. So an invocation makes several delegates.
        across = shape.workgroup // shape.team
        blocks, most = ceil_div(shape.loads, across), o.workgroups // 4
        spans = next(n for n in range(1, every + 1) if every % n == 0 and (blocks * every // n <= most or n == every))
        key_words = program.selection.format.key_words
        program.dispatch(
            "delegates/columns",
            blocks * (every // spans),
            source=source,
            sink=sink,
            bind={"second_keys": second_keys},
            constants=self._loads(program, source, shape)
            | {
                "ACROSS": across,
                "SHARED": int(shared),
                "TOGETHER": self._together(shape, pair_bytes(key_words) + 4 * key_words),
                "UNROLL": self.policy.unroll,
                "TAIL": _TAIL,
            },
            params={"parts": every // spans, "spans": spans, "least": subsets, "team": shape.team},
        )

    def _shape(self, source: View, sequences: int, load: tuple[int, int], workgroup: int) -> ColumnsShape:
        columns = source.selection.batch[-1].size
        beside = ceil_div(columns, load[1])
        return ColumnsShape(*load, sequences // columns * beside, beside, workgroup)

    @staticmethod
    def _loads(program: Program, source: View, shape: ColumnsShape) -> dict[str, int]:
        """The constants of ``lib/io/columns.wgsl``."""
        return {
            "WORKGROUP": shape.workgroup,
            "PER_LOAD": shape.per_load,
            "INPUT_WORDS": shape.words,
            "LOADS_WHOLE": int(shape.per_load * program.selection.format.bytes == 4 * shape.words),
            "IN_ORDER": int(program.in_order(source)),
        }

    @staticmethod
    def _together(shape: ColumnsShape, stored: int) -> int:
        """Columns of a load that meet at a time."""
        # No more than the least workgroup memory that there is: several workgroups find room.
        return min(shape.per_load, power_of_two_below((16 << 10) // (shape.workgroup * stored)))

    def _unroll(self, rows: int) -> int:
        """Rows under way at once, in rounds as equal as can be where there are few."""
        most = self.policy.unroll
        if rows > 4 * most:
            return most
        return power_of_two_above(ceil_div(rows, ceil_div(rows, most)))
