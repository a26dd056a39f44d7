"""The pairs at any ranks of sequences: by histograms of digits, of a sample first where they are
long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..program import Program
from ..regions import Pairs, Region, Source, View
from .base import Step
from .digits import digits_of
from .parts import parts_of_rows
from .rank_table import EVERY, RUN, Brackets, Part, Ranks, rank_table

_TEAM = 16  # invocations that scan the counters of a rank, at least
_MOST_TOGETHER = 32  # ranks
_MOST_BINS = 2048
_COLLECTED = 512  # pairs that a workgroup collects: little memory, so that many share a processor


@dataclass(frozen=True)
class SelectRanksPolicy:
    """Where a sample of a long row pays."""

    #: A sample is taken of rows of this many items and more.
    sample_length: int = number(1 << 22, 4096, 1 << 32)


@dataclass(frozen=True)
class _Levels:
    """A search for ranks level by level: who has slots where, and how far it has come."""

    constants: dict[str, int]
    digits: list[tuple[int, int, int]]
    state: dict[str, Region]  #: "histogram" and "progress"
    sequences: int

    @property
    def last(self) -> dict[str, int]:
        """The parameters of what looks at the last level's counts."""
        word, shift, _ = self.digits[-1]
        return {"level": len(self.digits), "previous_word": word, "previous_shift": shift, "sequences": self.sequences}


class SelectRanks(Step):
    """The digits of several pairs at once: which of them holds each rank, level by level.

    Of a long row a sample tells brackets, narrow and nearly sure to hold the wanted pairs. One read
    lists what lies in them and counts what lies before. Where a bracket missed, or its list
    overflowed, all items are looked at after all.
    """

    name = "select_ranks"
    Policy = SelectRanksPolicy
    policy: SelectRanksPolicy

    @property
    def together(self) -> int:
        """The most ranks that are found together."""
        return min(_MOST_TOGETHER, self.machine.widest_workgroup // _TEAM)

    def table(self, length: int, rows: bool, ranks: Sequence[int], propagates: bool) -> tuple[list[int], Ranks]:
        """The words of "ranks" for one row of them. ``rows``: sequences lie in one run each."""
        return rank_table(length, ranks, self.together, propagates, rows and length >= self.policy.sample_length)

    def own_rows(self, sequences: int, count: int) -> Ranks:
        """Ranks of which each sequence has a row."""
        parts = [Part(first, min(self.together, count - first)) for first in range(0, count, self.together)]
        return Ranks(count, Region(0, 4 * sequences * count, "ranks"), tuple(parts), own=True)

    def build(self, program: Program, views: Sequence[View], sequences: int, ranks: Ranks, sink: Pairs) -> None:
        """The pairs at the ranks of each sequence, which lies in the views, one after the other."""
        start = program.arena.used
        alone = len(views) == 1 and parts_of_rows(self.machine, self.occupancy, views[0], sequences) == 1
        for part in ranks.parts:
            program.arena.used = start
            if alone:
                self._rows(program, views[0], sequences, ranks, part, sink)
            elif part.brackets is not None and len(views) == 1 and views[0].rows:
                self._between(program, views[0], sequences, ranks, part, part.brackets, sink)
            else:
                whole = self._levels(program, sequences, part.count)
                self._clear(program, start)
                self._begin(program, views[0], ranks.region, whole, _wanted(views[0], ranks, part))
                self._find(program, whole, views, sink, part, 0, {})
        if ranks.propagates:
            bind, params = {"pair_keys": sink.keys, "pair_indices": sink.indices}, {"ranks": ranks.count}
            program.dispatch("ranks/propagate", ceil_div(sequences * ranks.count, self.machine.workgroup), bind=bind, params=params)

    def count_numbers(self, program: Program, view: View, sequences: int, numbers: Region) -> None:
        """How many items of each sequence are not NaN, added to words that lie as the indices."""
        parts = parts_of_rows(self.machine, self.occupancy, view, sequences)
        program.dispatch(
            "ranks/numbers",
            sequences * parts,
            source=view,
            bind={"numbers": numbers},
            params={"parts": parts, "index_base": view.selection.index_offset},
        )

    # -- one workgroup a sequence --

    def _rows(self, program: Program, view: View, sequences: int, ranks: Ranks, part: Part, sink: Pairs) -> None:
        constants = self._constants(part.count)
        bits = {"key_bits": 8 * program.selection.format.bytes, "index_bits": max(1, (program.selection.length - 1).bit_length())}
        program.dispatch(
            "ranks/rows",
            sequences,
            source=view,
            sink=sink,
            bind={"ranks": ranks.region},
            constants=constants | {"DIGIT": constants["BINS"].bit_length() - 1},
            params=_wanted(view, ranks, part) | bits,
        )

    # -- level by level --

    def _constants(self, count: int) -> dict[str, int]:
        slots = power_of_two_above(count)
        workgroup = max(self.machine.workgroup, _TEAM * slots)
        # Half of the workgroup memory, or nearly.
        bins = min(_MOST_BINS, power_of_two_below(self.memory * 3 // 16) // slots)
        return {
            "WORKGROUP": workgroup,
            "RANKS": slots,
            "SLOT_STEPS": slots.bit_length() - 1,
            "BINS": bins,
            "TEAM": workgroup // slots,
            "EACH_BINS": bins * slots // workgroup,
        }

    def _levels(self, program: Program, sequences: int, count: int) -> _Levels:
        """Room for a search of so many ranks of each sequence; counts must be cleared."""
        constants, form = self._constants(count), program.selection.format
        slots, bins = constants["RANKS"], constants["BINS"]
        digits = list(digits_of(8 * form.bytes, program.selection.length, bins.bit_length() - 1, form.key_words))
        histogram = program.words(len(digits) * sequences * slots * bins)
        return _Levels(constants, digits, {"histogram": histogram}, sequences)

    def _clear(self, program: Program, start: int) -> None:
        program.clear(Region(start, program.arena.used - start))

    def _begin(self, program: Program, view: View, region: Region, levels: _Levels, params: dict[str, int]) -> None:
        """The slots of a search, from words of the table."""
        self._progress(program, levels)
        program.dispatch(
            "ranks/begin",
            ceil_div(levels.sequences * levels.constants["RANKS"], self.machine.workgroup),
            source=view,
            bind={"ranks": region, "progress": levels.state["progress"]},
            constants={"RANKS": levels.constants["RANKS"]},
            params=params,
        )

    @staticmethod
    def _progress(program: Program, levels: _Levels) -> None:
        levels.state["progress"] = program.words(4 * (len(levels.digits) + 1) * levels.sequences * levels.constants["RANKS"])

    def _count(
        self,
        program: Program,
        levels: _Levels,
        sources: Sequence[Source],
        gate: int,
        bind: dict[str, Region],
        params: dict[str, int],
    ) -> None:
        """Every level's counts."""
        previous = {"previous_word": 0, "previous_shift": 0}
        constants = levels.constants | {"GATE": gate, "COUNTED": int(gate == 2)}
        for level, (word, shift, bits) in enumerate(levels.digits):
            for source in sources:
                # As many items as counters: clearing and adding those takes as long.
                most = max(1, source.length // (levels.constants["RANKS"] * levels.constants["BINS"]))
                parts = min(most, parts_of_rows(self.machine, self.occupancy, source, levels.sequences))
                digit = {"level": level, "digit_word": word, "digit_shift": shift, "digit_bits": bits, "k": 0}
                program.dispatch(
                    "ranks/histogram",
                    levels.sequences * parts,
                    source=source,
                    bind=levels.state | bind,
                    constants=constants,
                    params=previous | digit | {"parts": parts, "sequences": levels.sequences} | params,
                )
            previous = {"previous_word": word, "previous_shift": shift}

    def _find(
        self, program: Program, levels: _Levels, views: Sequence[View], sink: Pairs, part: Part, gate: int, bind: dict[str, Region]
    ) -> None:
        """The pairs of every slot: of all sequences, or of those that are not done yet."""
        self._count(program, levels, views, gate, bind, {})
        self._put(program, levels, views[0], sink, part, gate, bind, {"ranks": part.count})

    def _put(
        self,
        program: Program,
        levels: _Levels,
        view: View,
        sink: Pairs,
        part: Part,
        gate: int,
        bind: dict[str, Region],
        params: dict[str, int],
    ) -> None:
        program.dispatch(
            "ranks/pairs",
            levels.sequences,
            source=view,
            bind=levels.state | {"pair_keys": sink.keys, "pair_indices": sink.indices} | bind,
            constants=levels.constants | {"GATE": gate},
            params=levels.last | {"sink_step": sink.step, "first_rank": part.first} | params,
        )

    # -- brackets from a sample --

    def _between(
        self, program: Program, view: View, sequences: int, ranks: Ranks, part: Part, brackets: Brackets, sink: Pairs
    ) -> None:
        start, count = program.arena.used, brackets.count
        of_sample = self._levels(program, sequences, 2 * count)
        of_lists = self._levels(program, sequences * count, brackets.most)
        of_all = self._levels(program, sequences, part.count)
        earlier, listed = program.words(sequences * count), program.words(sequences * count)
        self._clear(program, start)
        lists = program.pairs(sequences * count, brackets.places)
        table = program.words(8 * sequences * count)
        status = program.words(sequences)

        self._begin(program, view, brackets.sampled, of_sample, {"ranks": 2 * count})
        sample = _sample(view)
        self._count(program, of_sample, [sample], 0, {}, {"slack": sample.length // (8 * EVERY)})
        program.dispatch(
            "ranks/brackets",
            sequences,
            source=view,
            bind=of_sample.state | {"brackets": table},
            constants=of_sample.constants | {"GATE": 0},
            params=of_sample.last | {"ranks": 2 * count, "slack": sample.length // (8 * EVERY)},
        )
        self._list(program, view, sequences, brackets, lists, {"brackets": table, "earlier": earlier, "listed": listed})
        self._progress(program, of_lists)
        tell = {"ranks": ranks.region, "bounds": brackets.bounds_at, "status": status, "progress": of_lists.state["progress"]}
        chosen = {"chosen": count}
        program.dispatch(
            "ranks/lists",
            ceil_div(sequences, self.machine.workgroup),
            source=view,
            bind=tell | {"earlier": earlier, "listed": listed},
            constants={"RANKS": of_lists.constants["RANKS"]},
            params=_wanted(view, ranks, part) | chosen | {"places": brackets.places},
        )
        gate = {"status": status, "brackets": table}
        self._count(program, of_lists, [lists], 2, gate | {"source_counts": listed}, chosen)
        self._put(program, of_lists, view, sink, part, 2, gate | {"bounds": brackets.bounds_at}, chosen)
        self._begin(program, view, ranks.region, of_all, _wanted(view, ranks, part))
        self._find(program, of_all, [view], sink, part, 1, {"status": status})

    def _list(
        self, program: Program, view: View, sequences: int, brackets: Brackets, lists: Pairs, bind: dict[str, Region]
    ) -> None:
        """What lies in the brackets, by one read."""
        parts = parts_of_rows(self.machine, self.occupancy, view, sequences)
        # As many turns as are expected to leave half of the room free.
        items = 4 * view.per_load * self.machine.workgroup
        free = _COLLECTED * view.length // (2 * items * brackets.count * brackets.places)
        program.dispatch(
            "ranks/between",
            sequences * parts,
            source=view,
            bind=bind | {"list_keys": lists.keys, "list_indices": lists.indices},
            constants={
                "BRACKETS": brackets.count,
                "COLLECTED": _COLLECTED,
            },
            params={"parts": parts, "places": brackets.places, "turns": max(1, free)},
        )


def _wanted(view: View, ranks: Ranks, part: Part) -> dict[str, int]:
    """The parameters of what reads wanted ranks."""
    row = {"rank_step": int(ranks.own), "index_base": view.selection.index_offset}
    return row | {"first_rank": part.first, "ranks": part.count}


def _sample(view: View) -> View:
    """Runs of elements from all over a row."""
    (axis,) = view.selection.axes
    runs = view.length // (RUN * EVERY)
    axes = (replace(axis, size=runs, stride=RUN * EVERY), replace(axis, size=RUN, stride=1))
    return replace(
        view,
        selection=replace(view.selection, axes=axes),
        starts=(0, 0),
        sizes=(runs, RUN),
        steps=(RUN * EVERY, 1),
        start_offset=view.offset,
        start_index=view.first_index,
    )
