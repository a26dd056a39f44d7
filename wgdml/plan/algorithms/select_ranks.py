"""The pairs at any ranks of long sequences by histograms of digits. A read a digit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..program import Program
from ..regions import Pairs, Region, View
from .base import Step
from .digits import digits_of
from .parts import parts_of_rows

#: Most ranks that are found together: 16 invocations scan the counters of each.
_TOGETHER = 16
_MOST_BINS = 2048


@dataclass(frozen=True)
class Ranks:
    """The ranks that are wanted, in the resource "ranks", ascending, from 0."""

    count: int
    words: int  #: Of the resource.
    own: bool = False  #: Each sequence has its own row, which lies as its indices do.
    propagates: bool = False  #: There is one more, whose pair takes the place of all if it is NaN.

    @property
    def region(self) -> Region:
        return Region(0, 4 * self.words, "ranks")


class SelectRanks(Step):
    """The digits of several pairs at once: which of them holds each rank, level by level."""

    name = "select_ranks"

    def build(self, program: Program, views: Sequence[View], sequences: int, ranks: Ranks, sink: Pairs) -> None:
        """The pairs at the ranks of each sequence, which lies in the views, one after the other."""
        start = program.arena.used
        parts = self._parts(views[0], sequences)
        together = _TOGETHER - int(ranks.propagates)
        for first in range(0, ranks.count, together):
            program.arena.used = start
            params = {
                "first_rank": first,
                "ranks": min(together, ranks.count - first),
                "last_rank": ranks.count - 1 + int(ranks.propagates),
                "rank_step": int(ranks.own),
                "propagate": int(ranks.propagates),
                "index_base": views[0].selection.index_offset,
            }
            if len(views) == 1 and parts == 1:
                self._rows(program, views[0], sequences, ranks, params, sink)
            else:
                self._levels(program, views, sequences, ranks, params, sink)

    def count_numbers(self, program: Program, view: View, sequences: int, numbers: Region) -> None:
        """How many items of each sequence are not NaN, added to words that lie as the indices."""
        parts = self._parts(view, sequences)
        program.dispatch(
            "ranks/numbers",
            sequences * parts,
            source=view,
            bind={"numbers": numbers},
            params={"parts": parts, "index_base": view.selection.index_offset},
        )

    def _parts(self, view: View, sequences: int) -> int:
        return parts_of_rows(self.machine, self.occupancy, view, sequences)

    def _constants(self, count: int) -> dict[str, int]:
        slots, workgroup = power_of_two_above(count), self.machine.workgroup
        # Half of the workgroup memory.
        bins = min(_MOST_BINS, power_of_two_below(self.memory // 8) // slots)
        return {
            "RANKS": slots,
            "SLOT_STEPS": slots.bit_length() - 1,
            "BINS": bins,
            "TEAM": workgroup // slots,
            "EACH_BINS": bins * slots // workgroup,
        }

    def _rows(self, program: Program, view: View, sequences: int, ranks: Ranks, params: dict[str, int], sink: Pairs) -> None:
        constants = self._constants(params["ranks"] + params["propagate"])
        program.dispatch(
            "ranks/rows",
            sequences,
            source=view,
            sink=sink,
            bind={"ranks": ranks.region},
            constants=constants | {"DIGIT": constants["BINS"].bit_length() - 1},
            params=params
            | {"key_bits": 8 * program.selection.format.bytes, "index_bits": max(1, (program.selection.length - 1).bit_length())},
        )

    def _levels(
        self, program: Program, views: Sequence[View], sequences: int, ranks: Ranks, params: dict[str, int], sink: Pairs
    ) -> None:
        constants = self._constants(params["ranks"] + params["propagate"])
        slots, bins = constants["RANKS"], constants["BINS"]
        form = program.selection.format
        digits = list(digits_of(8 * form.bytes, program.selection.length, bins.bit_length() - 1, form.key_words))
        places = len(digits) * sequences * slots * bins
        state = {
            "histogram": program.words(places),
            "progress": program.words(4 * (len(digits) + 1) * sequences * slots),
        }
        program.dispatch(
            "ranks/begin",
            ceil_div(max(places, sequences * slots), self.machine.workgroup),
            source=views[0],
            bind={"ranks": ranks.region, "progress": state["progress"], "words": state["histogram"]},
            constants={"RANKS": slots},
            params={name: value for name, value in params.items() if name != "propagate"} | {"places": places},
        )
        previous = {"previous_word": 0, "previous_shift": 0}
        for level, (word, shift, bits) in enumerate(digits):
            for view in views:
                parts = self._parts(view, sequences)
                program.dispatch(
                    "ranks/histogram",
                    sequences * parts,
                    source=view,
                    bind=state,
                    constants=constants,
                    params=previous
                    | {"parts": parts, "level": level, "digit_word": word, "digit_shift": shift, "digit_bits": bits},
                )
            previous = {"previous_word": word, "previous_shift": shift}
        program.dispatch(
            "ranks/pairs",
            sequences,
            source=views[0],
            sink=sink,
            bind=state,
            constants=constants,
            params=previous | {"level": len(digits)} | {name: params[name] for name in ("first_rank", "ranks", "propagate")},
        )
