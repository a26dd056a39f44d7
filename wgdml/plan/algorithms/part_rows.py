"""Sequences parted at a few ranks whose pairs are known, by a team each. One read."""

from __future__ import annotations

from dataclasses import replace

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..program import Program
from ..regions import Outputs, Pairs, View
from .base import Step
from .parts import class_above
from .rank_table import Ranks, bound_pairs

_MOST_RANKS = 8  # a scan of a turn for each of them, and one more
_LONGEST = 1 << 14  # items of sequences that one workgroup parts, unless there are many
_SERIAL = 1 << 15  # items of sequences that an invocation parts; lavapipe ends loops after 65,535
_LANES = 8  # invocations of a workgroup that have a sequence each
_SIZES = 2  # of rooms from one power of two to the next: each is a kernel


class PartRows(Step[None]):
    """How many come before it, of the items between two ranks, is an item's place there."""

    name = "part_rows"

    def serves(self, view: View, sequences: int, ranks: Ranks) -> bool:
        """Do few ranks part sequences so short or so many that a team each is enough?"""
        if self.machine.software:
            alone = view.one_axis and view.length <= _SERIAL
        else:
            alone = view.length <= _LONGEST or self.parts_of_rows(view, sequences) == 1
        return alone and ranks.count <= _MOST_RANKS

    def build(self, program: Program, view: View, sequences: int, ranks: Ranks, at: Pairs, sink: Outputs) -> None:
        """Appends the dispatch. ``at``: the pairs at the ranks of each sequence."""
        if not self.machine.software and view.selection.format.bytes == 1:
            view = replace(view, vectors=False)  # sixteen items an invocation take long to compile
        if self.machine.software:
            kernel, teams = "serial/part", min(self.machine.workgroup, _LANES)
            constants = {"WORKGROUP": teams, "RANKS": power_of_two_above(ranks.count), "MOST_RANKS": _MOST_RANKS}
        else:
            kernel, (teams, constants) = "ranks/part", self._teams(view)
        program.dispatch(
            kernel,
            ceil_div(sequences, teams),
            source=view,
            sink=sink,
            bind={"ranks": ranks.region} | bound_pairs(at),
            constants=constants,
            params={"ranks": ranks.count},
        )

    def _teams(self, view: View) -> tuple[int, dict[str, int]]:
        """Sequences of a workgroup, a team each, and the kernel's constants."""
        size, held = self.machine.workgroup, class_above(view.length, _SIZES)
        team = min(size, power_of_two_above(view.most_loads))
        bytes_each = held * view.selection.format.pair_size + 4 * (_MOST_RANKS + 1)
        teams = min(size // team, power_of_two_below(max(1, self.memory // (2 * bytes_each))))
        if 2 * bytes_each > self.memory:
            held = 0
        return teams, {"TEAM": team, "WORKGROUP": teams * team, "HELD": held, "MOST_RANKS": _MOST_RANKS}
