"""The pairs at several ranks of sequences, digit by digit: a read for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..machine import power_of_two_above, power_of_two_below
from ..program import Program
from ..regions import Outputs, Region, Source
from .base import Step
from .parts import digits_of
from .rank_table import Search, bound_pairs

_MOST_TOGETHER = 32  # ranks
_MOST_BINS = 2048
_GATED = 2  # workgroups a processor look for what was missed


@dataclass(frozen=True)
class Levels:
    """What a search by many workgroups leaves from level to level."""

    constants: dict[str, int]
    digits: list[tuple[int, int, int]]
    histogram: Region


class DigitRanks(Step[None]):
    """Counts how many pairs have each value of a digit: which value holds each rank, and so on.

    By a workgroup a sequence, or by many, whose counters lie in scratch from level to level.
    """

    name = "digit_ranks"
    fewest = 16  #: Invocations that scan the counters of a rank, at least.

    @property
    def together(self) -> int:
        """The most ranks that are found together."""
        return min(_MOST_TOGETHER, self.machine.widest_workgroup // self.fewest)

    def workgroup(self, slots: int) -> int:
        """Invocations that look for ranks of so many slots."""
        return max(self.machine.workgroup, self.fewest * slots)

    def constants_of(self, count: int, bits: int = 64) -> dict[str, int]:
        """For so many ranks, where so many bits tell a pair."""
        slots = power_of_two_above(count)
        workgroup = self.workgroup(slots)
        # Half of the workgroup memory, or nearly.
        bins = min(_MOST_BINS, power_of_two_below(self.memory * 3 // 16) // slots)
        return self.slots(slots, workgroup, max(workgroup // slots, min(bins, 1 << bits)))

    @staticmethod
    def slots(slots: int, workgroup: int, bins: int) -> dict[str, int]:
        """The constants of ``lib/workgroup/rank_slots.wgsl``, and ``BINS``."""
        return {
            "WORKGROUP": workgroup,
            "RANKS": slots,
            "FIRST_K": 0,
            "SLOT_STEPS": slots.bit_length() - 1,
            "BINS": bins,
            "TEAM": workgroup // slots,
            "EACH_BINS": bins * slots // workgroup,
        }

    @staticmethod
    def searching(constants: dict[str, int]) -> dict[str, int]:
        """The constants of ``lib/workgroup/rank_rows.wgsl``."""
        return constants | {"DIGIT": constants["BINS"].bit_length() - 1, "MATCHES": 1}

    def rows(
        self,
        program: Program,
        search: Search,
        source: Source,
        missed: Mapping[str, Region] = MappingProxyType({}),
        params: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """By a workgroup for each sequence, whose items the source has.

        ``missed``: counters of lists, where only those are served of which a list missed a rank.
        ``params`` tells of those lists.
        """
        view, sink = search.view, search.sink
        program.dispatch(
            "ranks/rows",
            search.sequences,
            source=source,
            sink=Outputs(view),
            bind={"ranks": search.ranks.region, **bound_pairs(sink), **missed},
            constants=self.searching(self.constants_of(search.part.wanted, search.bits))
            | {"GATE": int(bool(missed)), "LIST_BINS": 0},
            params={**search.params, **params, "sink_step": sink.step, "index_bits": search.index_bits},
        )

    def build(self, program: Program, search: Search, sources: Sequence[Source]) -> None:
        """By many workgroups a sequence, which lies in the sources, one after the other."""
        start = program.arena.used
        levels = self.levels(program, search)
        program.clear(Region(start, program.arena.used - start))
        self.find(program, levels, search, sources)

    def levels(self, program: Program, search: Search) -> Levels:
        """Room for a search by many workgroups; counts must be cleared."""
        form = search.view.selection.format
        constants = self.constants_of(search.part.wanted, search.bits)
        slots, bins = constants["RANKS"], constants["BINS"]
        digits = digits_of(form, search.index_bits, bins.bit_length() - 1)
        return Levels(constants, digits, program.words(len(digits) * search.sequences * slots * bins))

    def find(
        self,
        program: Program,
        levels: Levels,
        search: Search,
        sources: Sequence[Source],
        missed: Mapping[str, Region] = MappingProxyType({}),
    ) -> None:
        """The search, a dispatch a digit: of all sequences, or those with a word in ``missed``."""
        slots, sequences = levels.constants["RANKS"], search.sequences
        progress = program.words(4 * (len(levels.digits) + 1) * slots * sequences)
        bind = {"histogram": levels.histogram, "progress": progress, "ranks": search.ranks.region, **missed}
        constants = levels.constants | {"GATE": int(bool(missed))}
        previous = {"previous_word": 0, "previous_shift": 0}
        for level, (word, shift, bits) in enumerate(levels.digits):
            for source in sources:
                # As many items as counters: clearing and adding those takes as long.
                most = max(1, source.length // (slots * levels.constants["BINS"]))
                parts = min(most, self.parts_of_rows(source, sequences))
                if missed:
                    # Nearly always none was missed, and workgroups take time to find that out.
                    parts = min(parts, max(1, _GATED * self.occupancy.processors // sequences))
                digit = {"level": level, "digit_word": word, "digit_shift": shift, "digit_bits": bits, "k": 0}
                program.dispatch(
                    "ranks/histogram",
                    sequences * parts,
                    source=source,
                    bind=bind,
                    constants=constants | {"MATCHES": 0},
                    params=previous | digit | search.params | {"parts": parts},
                )
            previous = {"previous_word": word, "previous_shift": shift}
        program.dispatch(
            "ranks/pairs",
            sequences,
            source=search.view,
            bind=bind | bound_pairs(search.sink),
            constants=constants,
            params=search.params | previous | {"level": len(levels.digits), "sink_step": search.sink.step},
        )
