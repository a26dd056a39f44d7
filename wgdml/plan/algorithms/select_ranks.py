"""The pairs at any ranks of sequences: in registers, by brackets of a sample, or digit by digit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..machine import ceil_div, power_of_two_above
from ..program import Program
from ..regions import Outputs, Pairs, Region, Source, View
from .base import Step, uses
from .between_ranks import BetweenRanks
from .bisect_ranks import BisectRanks
from .digit_ranks import DigitRanks
from .parts import NEIGHBOURS
from .rank_table import Part, Ranks, Search, bound_pairs, plain_parts, rank_table
from .transpose import Transpose, rows_of

_SHORT = 1024  # items of sequences that are put in order, unless they are bisected: one read
_LOADS = 8  # of an invocation that counts numbers, at least
_ITERATIONS = 50_000  # of the loops of an invocation; lavapipe ends them after 65,535
#: Items of all sequences, up to which those of software adapters are put in order: a read or two
#: and merges, where each digit is a read
#: (benchmarks/LOG.md#ranks-in-order-on-software-adapters-2026-11-29-7783ac9).
_FEW_ITEMS = 1 << 22
_PARTS = 8  # of a sequence, up to which one workgroup does the work of all
_ALONE = 1 << 15  # items of 32 bits, up to which it does in any case
_ALONE_SERIAL = 1 << 17  # and on software adapters, whose workgroups do all one after the other


class SelectRanks(Step[None]):
    """Short sequences in registers or in order, long rows between brackets, others by digits."""

    name = "select_ranks"
    transpose = uses(Transpose)
    bisection = uses(BisectRanks)
    between = uses(BetweenRanks)
    digits = uses(DigitRanks)

    def table(
        self, view: View, sequences: int, ranks: Sequence[int], *, propagates: bool, positions: bool
    ) -> tuple[list[int], Ranks]:
        """The words of "ranks" for one row of them, for the sequences of a view."""
        if self._turned(view, sequences, len(ranks) - propagates, positions):
            view = rows_of(view, Region(0, 0, "scratch"))
        # One read counts all values of 8 bits.
        counted = view.selection.format.bytes == 1 and not positions
        once = counted or self.bisection.fits(view, positions) or self._ordered(view, sequences, view.length)
        sample = self.between.sample_of(view, sequences) if view.rows and not once else None
        return rank_table(view.length, ranks, self.digits.together, sample, propagates=propagates, positions=positions)

    def build(self, program: Program, views: Sequence[View], sequences: int, ranks: Ranks, sink: Pairs) -> None:
        """The pairs at the ranks of each sequence, which lies in the views, one after the other."""
        kept = program.arena.used
        length = sum(view.length for view in views)
        wanted = ranks.count - ranks.propagates
        if len(views) == 1 and self._turned(views[0], sequences, wanted, ranks.positions):
            views = [self.transpose.copied(program, views[0], sequences)]
        whole = Search(views[0], sequences, ranks, Part(0, ranks.count), sink)
        if len(views) == 1 and self._bisected(views[0], wanted, ranks.positions):
            self.bisection.build(program, whole)
            program.arena.used = kept
            return
        if self._ordered(views[0], sequences, length):
            self._pick(program, views, whole)
        else:
            self._search(program, views, whole)
        if ranks.propagates:
            workgroups = ceil_div(sequences * ranks.count, self.machine.workgroup)
            program.dispatch("ranks/propagate", workgroups, bind=bound_pairs(sink), params={"ranks": ranks.count})
        program.arena.used = kept

    def _pick(self, program: Program, views: Sequence[View], search: Search) -> None:
        """Of short sequences: from all pairs in order, as far as they are wanted."""
        sequences, ranks, wanted = search.sequences, search.ranks, search.ranks.last + 1
        source: Source = views[0]
        if len(views) > 1:
            source = program.firsts(views, sequences, wanted)
        ordered = program.pairs(sequences, wanted)
        program.run(source, sequences, wanted, ordered)
        program.dispatch(
            "ranks/pick",
            ceil_div(sequences * ranks.count, self.machine.workgroup),
            source=ordered,
            sink=Outputs(views[0]),
            bind={"ranks": ranks.region} | bound_pairs(search.sink),
            params=search.params,
        )

    def _search(self, program: Program, views: Sequence[View], whole: Search) -> None:
        view, sequences, ranks = whole.view, whole.sequences, whole.ranks
        alone = len(views) == 1 and self._alone(view, sequences)
        start = program.arena.used
        # Of sequences in several pieces nothing is sampled, and their last pair is as any other.
        whole_rows = len(views) == 1 and view.rows
        for part in ranks.parts if whole_rows else plain_parts(ranks.count, self.digits.together):
            program.arena.used = start
            search = replace(whole, part=part)
            if part.brackets is not None:
                self.between.build(program, search, part.brackets)
            elif alone:
                self.digits.rows(program, search, view)
            else:
                self.digits.build(program, search, views)

    def _ordered(self, view: View, sequences: int, length: int) -> bool:
        """Do pairs in order tell those at any ranks? Of few items on software adapters, too.

        To find an element by several axes is a loop, and lavapipe ends long ones: one read, then.
        """
        m, items = self.machine, sequences * length
        scratch = 32 * view.selection.format.key_words * items
        few = items <= _FEW_ITEMS and scratch <= min(m.max_storage_buffer_binding_size, m.max_buffer_size)
        return length <= _SHORT or (m.software and (few or not view.one_axis))

    def _bisected(self, view: View, count: int, positions: bool) -> bool:
        return self.bisection.pays(view.length, count) and self.bisection.fits(view, positions)

    def _turned(self, view: View, sequences: int, count: int, positions: bool) -> bool:
        """Are sequences that are no rows copied to rows? They are read several times."""
        once = self._ordered(view, sequences, view.length) or self._bisected(view, count, positions)
        return not once and self.transpose.fits(view, sequences)

    def to_read_again(self, program: Program, view: View, sequences: int, count: int) -> View:
        """Sequences that are read again when so many ranks are known: as rows where that pays."""
        # A copy and all pairs in order would take more than a pair an item.
        ordered = self._ordered(view, sequences, view.length) and not self._bisected(view, count, True)
        copies = not ordered and self.transpose.fits(view, sequences)
        return self.transpose.copied(program, view, sequences) if copies else view

    def _alone(self, view: View, sequences: int) -> bool:
        """Does a workgroup serve each sequence by itself, without tables of counters in scratch?"""
        parts = self.parts_of_rows(view, sequences)
        # A copy leaves half of the scratch for counters.
        longest = (_ALONE_SERIAL if self.machine.software else _ALONE) * view.selection.format.key_words
        if view.region:
            longest *= 2
        return parts == 1 or view.length <= longest or (parts <= _PARTS and not self.machine.software)

    def count_numbers(self, program: Program, view: View, sequences: int, numbers: Region) -> None:
        """How many items of each sequence are not NaN, added to words that lie as the indices."""
        size, beside = self.machine.workgroup, view.columns
        team = min(size // NEIGHBOURS if beside else size, power_of_two_above(ceil_div(view.most_loads, _LOADS)))
        parts = self.parts_of_rows(view, sequences)
        if parts > 1:
            parts *= size // team
        # An element of several axes is found by a loop, and lavapipe ends long ones.
        iterations = view.loads * (len(view.selection.axes) + 1)
        parts = max(parts, ceil_div(iterations, team * _ITERATIONS))
        program.dispatch(
            "ranks/numbers",
            ceil_div(sequences * parts, size // team),
            source=view,
            bind={"numbers": numbers},
            constants={"TEAM": team, "SIDE_BY_SIDE": int(beside)},
            params={"parts": parts, "index_base": view.selection.index_offset},
        )
