"""The pairs at any ranks of sequences: in registers, by brackets of a sample, or digit by digit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..machine import Machine, ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..program import Program
from ..regions import Outputs, Pairs, Region, Source, View
from .base import Step
from .bisect_ranks import BisectRanks
from .digits import digits_of
from .parts import parts_of_rows
from .rank_table import Brackets, Part, Ranks, Sample, bound_pairs, plain_parts, rank_table, wanted_params
from .serial_subsets import pairs_of
from .transpose import Transpose, rows_of

_TEAM = 16  # invocations that scan the counters of a rank, at least
_MOST_TOGETHER = 32  # ranks
_MOST_BINS = 2048
_COLLECTED = 512  # pairs that a workgroup collects: little memory, so that many share a processor
_SAMPLES, _LEFT_OUT = 128, 40  # of a long row, and how many of them a bracket leaves out at an end
_SPREAD = 0.5  # standard deviations of one of them that the others then lie apart
_EVERY = 16  # one load in so many, or fewer, is in any of them
_NARROWED = 8  # a list has room for one in so many of its pairs behind it
_SHORT = 1024  # items of sequences that are put in order, unless they are bisected: one read
_GATED = 2  # workgroups a processor look for what was missed
_LOADS = 8  # of an invocation that counts numbers, at least
_NEIGHBOURS = 8  # columns side by side, at least: a sector of memory
_ITERATIONS = 50_000  # of the loops of an invocation; lavapipe ends them after 65,535
_FEW_ITEMS = 1 << 20  # of all sequences that are made pairs on software adapters
_PARTS = 8  # of a sequence, up to which one workgroup does the work of all
_ALONE = 1 << 15  # items of 32 bits, up to which it does in any case
_ALONE_SERIAL = 1 << 17  # and on software adapters, whose workgroups do all one after the other
_LISTED_LENGTH = 1 << 18  # items of rows whose lists have a workgroup each
_LEVELS_BYTES = 1 << 18  # counters of longer rows, about, for what a list missed
_MANY, _LISTED = 64, 1 << 16  # so many lists have, of up to so many places
_ROW_RUN, _ROW_EVERY = 4, 4  # of rows, it is runs of so many loads, one in so many or more
_ROW_HELD = 32  # words of keys that an invocation holds in registers
_ROW_DIGIT = 8  # bits
_ROW_DEVIATIONS = 4  # of thousands of rows hardly one is missed
_ROW_BINS = 512  # counters of a workgroup that looks at a row's list: many share a processor


@dataclass(frozen=True)
class SelectRanksPolicy:
    """Where many samples of a long row pay."""

    #: Many samples are taken of few rows of this many items and more.
    sample_length: int = number(1 << 22, 4096, 1 << 32)


@dataclass(frozen=True)
class _Levels:
    """A search for ranks of sequences, level by level."""

    constants: dict[str, int]
    digits: list[tuple[int, int, int]]
    histogram: Region
    sequences: int


class SelectRanks(Step):
    """The digits of several pairs at once: which of them holds each rank, level by level.

    Of a long row a sample tells brackets, narrow and nearly sure to hold the wanted pairs. One read
    lists what lies in them and counts what lies before. Where a bracket missed, or its list
    overflowed, all items are looked at after all.
    """

    name = "select_ranks"
    Policy = SelectRanksPolicy
    policy: SelectRanksPolicy

    def __init__(self, machine: Machine, policies: Mapping[str, Any]) -> None:
        super().__init__(machine, policies)
        self.transpose = Transpose(machine, policies)
        self.bisection = BisectRanks(machine, policies)

    @property
    def together(self) -> int:
        """The most ranks that are found together."""
        return min(_MOST_TOGETHER, self.machine.widest_workgroup // _TEAM)

    def table(
        self, view: View, sequences: int, ranks: Sequence[int], *, propagates: bool, positions: bool
    ) -> tuple[list[int], Ranks]:
        """The words of "ranks" for one row of them, for the sequences of a view."""
        if self._turned(view, sequences, len(ranks) - propagates, positions):
            view = rows_of(view, Region(0, 0, "scratch"))
        sample = self._sample_of(view, sequences, positions) if view.rows else None
        return rank_table(view.length, ranks, self.together, sample, propagates=propagates, positions=positions)

    def _sample_of(self, view: View, sequences: int, positions: bool) -> Sample | None:
        """What may be taken of rows: many samples of a long one, else one."""
        if self.bisection.fits(view, positions) or (view.selection.format.bytes == 1 and not positions):
            return None  # one read counts all values of 8 bits
        length, per_load = view.length, view.per_load
        held = self._sampled(view) * self.machine.workgroup
        if length >= self.policy.sample_length and parts_of_rows(self.machine, self.occupancy, view, sequences) > 1:
            every = max(_EVERY, ceil_div(length // per_load, held * _SAMPLES))
            return Sample(per_load, every, _SAMPLES, 0, 1, _SPREAD, length // 4, self.together)
        if self.machine.software:
            return None
        every = max(_ROW_EVERY, ceil_div(length // per_load, held))
        # Lists, and an eighth to narrow them, take less than a pair an item and a copy leave.
        form = view.selection.format
        key, pair = 4 * form.key_words, form.pair_size
        free = length
        if view.region:
            counters = _LEVELS_BYTES if length > _LISTED_LENGTH else 0
            free = (length * (pair - form.bytes) - counters) // pair
        room = min(length * 3 // 4, free * 8 // 9, self.machine.max_storage_buffer_binding_size // (key * sequences))
        return Sample(_ROW_RUN * per_load, every, 1, _ROW_DEVIATIONS, 8, 0, room, self.machine.workgroup // _TEAM)

    @staticmethod
    def _sampled(view: View) -> int:
        """Loads of a row's sample that an invocation holds."""
        return max(1, _ROW_HELD // (view.per_load * view.selection.format.key_words))

    def own_rows(self, sequences: int, count: int, length: int) -> Ranks:
        """Ranks of which each sequence has a row."""
        parts = plain_parts(count, self.together)
        return Ranks(count, length - 1, Region(0, 4 * sequences * count, "ranks"), parts, own=True)

    def build(self, program: Program, views: Sequence[View], sequences: int, ranks: Ranks, sink: Pairs) -> None:
        """The pairs at the ranks of each sequence, which lies in the views, one after the other."""
        kept = program.arena.used
        length = sum(view.length for view in views)
        wanted = ranks.count - ranks.propagates
        if len(views) == 1 and self._turned(views[0], sequences, wanted, ranks.positions):
            views = [self.transpose.copied(program, views[0], sequences)]
        if len(views) == 1 and self._bisected(views[0], wanted, ranks.positions):
            self.bisection.build(program, views[0], sequences, ranks, sink)
            program.arena.used = kept
            return
        if length <= _SHORT:
            self._pick(program, views, sequences, ranks, sink)
        else:
            self._search(program, views, sequences, ranks, sink)
        if ranks.propagates:
            workgroups = ceil_div(sequences * ranks.count, self.machine.workgroup)
            program.dispatch("ranks/propagate", workgroups, bind=bound_pairs(sink), params={"ranks": ranks.count})
        program.arena.used = kept

    def _pick(self, program: Program, views: Sequence[View], sequences: int, ranks: Ranks, sink: Pairs) -> None:
        """Of short sequences: from all pairs in order, as far as they are wanted."""
        view, wanted = views[0], ranks.last + 1
        source: Source = view
        if len(views) > 1:
            source = program.firsts(views, sequences, wanted)
        ordered = program.pairs(sequences, wanted)
        program.run(source, sequences, wanted, ordered)
        program.dispatch(
            "ranks/pick",
            ceil_div(sequences * ranks.count, self.machine.workgroup),
            source=ordered,
            sink=Outputs(view),
            bind={"ranks": ranks.region} | bound_pairs(sink),
            params=wanted_params(view, ranks, Part(0, ranks.count)),
        )

    def _search(self, program: Program, views: Sequence[View], sequences: int, ranks: Ranks, sink: Pairs) -> None:
        view = views[0]
        alone = len(views) == 1 and self._alone(view, sequences)
        sources: list[Source] = list(views)
        if self.machine.software and (not view.one_axis or (alone and sequences * view.length <= _FEW_ITEMS)):
            # Kernels that read pairs are the same for all types, and each takes long to compile. To
            # find an element by several axes is a loop, of which lavapipe ends long ones.
            sources = [pairs_of(program, each, sequences) for each in views]
        start = program.arena.used
        # Of sequences in several pieces nothing is sampled, and their last pair is as any other.
        whole_rows = len(views) == 1 and view.rows
        for part in ranks.parts if whole_rows else plain_parts(ranks.count, self.together):
            program.arena.used = start
            if part.brackets is not None:
                self._between(program, view, sequences, ranks, part, part.brackets, sink)
            elif alone:
                self._rows(program, sources[0], view, sink, part.count, ranks, wanted_params(view, ranks, part), {})
            else:
                whole = self._levels(program, sequences, part.count, ranks.positions)
                self._clear(program, start)
                self._find(program, whole, sources, view, sink, part, 0, ranks, {})

    def _bisected(self, view: View, count: int, positions: bool) -> bool:
        return self.bisection.pays(view.length, count) and self.bisection.fits(view, positions)

    def _turned(self, view: View, sequences: int, count: int, positions: bool) -> bool:
        """Are sequences that are no rows copied to rows? They are read several times."""
        once = view.length <= _SHORT or self._bisected(view, count, positions)
        return not once and not self.machine.software and self.transpose.fits(view, sequences)

    def to_read_again(self, program: Program, view: View, sequences: int, count: int) -> View:
        """Sequences that are read again when so many ranks are known: as rows where that pays."""
        # A copy and all pairs in order would take more than a pair an item.
        ordered = view.length <= _SHORT and not self._bisected(view, count, True)
        if ordered or self.machine.software or not self.transpose.fits(view, sequences):
            return view
        return self.transpose.copied(program, view, sequences)

    def _alone(self, view: View, sequences: int) -> bool:
        """Does a workgroup serve each sequence by itself, without tables of counters in scratch?"""
        parts = parts_of_rows(self.machine, self.occupancy, view, sequences)
        # A copy leaves half of the scratch for counters.
        longest = (_ALONE_SERIAL if self.machine.software else _ALONE) * view.selection.format.key_words
        if view.region:
            longest *= 2
        return parts == 1 or view.length <= longest or (parts <= _PARTS and not self.machine.software)

    def count_numbers(self, program: Program, view: View, sequences: int, numbers: Region) -> None:
        """How many items of each sequence are not NaN, added to words that lie as the indices."""
        size, beside = self.machine.workgroup, view.columns
        team = min(size // _NEIGHBOURS if beside else size, power_of_two_above(ceil_div(view.most_loads, _LOADS)))
        parts = parts_of_rows(self.machine, self.occupancy, view, sequences)
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

    # -- one workgroup a sequence --

    def _rows(
        self,
        program: Program,
        source: Source,
        view: View,
        sink: Pairs,
        count: int,
        ranks: Ranks,
        params: dict[str, int],
        gate: dict[str, Region],
    ) -> None:
        """A workgroup for each sequence of the view, whose items the source has.

        ``gate``: counters of lists, where only those are served of which a list missed a rank.
        """
        index_bits = view.selection.index_bits if ranks.positions else 0
        constants = self._constants(count, 8 * view.selection.format.bytes + index_bits)
        program.dispatch(
            "ranks/rows",
            view.selection.sequences,
            source=source,
            sink=Outputs(view),
            bind={"ranks": ranks.region} | bound_pairs(sink) | gate,
            constants=self._searching(constants) | {"GATE": int(bool(gate)), "LIST_BINS": 0},
            params=params | {"sink_step": sink.step, "index_bits": index_bits},
        )

    @staticmethod
    def _searching(constants: dict[str, int]) -> dict[str, int]:
        """The constants of ``lib/workgroup/rank_rows.wgsl``."""
        return constants | {"DIGIT": constants["BINS"].bit_length() - 1, "MATCHES": 1}

    @staticmethod
    def _brackets(view: View, part: Part) -> dict[str, int]:
        """The constants of ``lib/workgroup/between.wgsl``."""
        assert part.brackets is not None
        count = part.brackets.count
        edges = {"EDGES": power_of_two_above(count + 1), "EDGE_STEPS": count.bit_length()}
        return edges | {"BRACKETS": count, "LAST": int(part.last), "AGAIN": 4 if view.per_load <= 8 else 2}

    # -- level by level --

    def _constants(self, count: int, bits: int = 64) -> dict[str, int]:
        """For so many ranks, where so many bits tell a pair."""
        slots = power_of_two_above(count)
        workgroup = max(self.machine.workgroup, _TEAM * slots)
        # Half of the workgroup memory, or nearly.
        bins = min(_MOST_BINS, power_of_two_below(self.memory * 3 // 16) // slots)
        return self._slots(slots, workgroup, max(workgroup // slots, min(bins, 1 << bits)))

    @staticmethod
    def _slots(slots: int, workgroup: int, bins: int) -> dict[str, int]:
        """The constants of ``lib/workgroup/rank_slots.wgsl``."""
        return {
            "WORKGROUP": workgroup,
            "RANKS": slots,
            "MATCHES": 0,
            "SLOT_STEPS": slots.bit_length() - 1,
            "BINS": bins,
            "TEAM": workgroup // slots,
            "EACH_BINS": bins * slots // workgroup,
        }

    def _levels(self, program: Program, sequences: int, count: int, positions: bool) -> _Levels:
        """Room for a search of so many ranks of each sequence; counts must be cleared."""
        form = program.selection.format
        index_bits = program.selection.index_bits if positions else 0
        constants = self._constants(count, 8 * form.bytes + index_bits)
        slots, bins = constants["RANKS"], constants["BINS"]
        digits = list(digits_of(8 * form.bytes, index_bits, bins.bit_length() - 1, form.key_words))
        return _Levels(constants, digits, program.words(len(digits) * sequences * slots * bins), sequences)

    def _clear(self, program: Program, start: int) -> None:
        program.clear(Region(start, program.arena.used - start))

    def _find(
        self,
        program: Program,
        levels: _Levels,
        sources: Sequence[Source],
        view: View,
        sink: Pairs,
        part: Part,
        gate: int,
        ranks: Ranks,
        bind: dict[str, Region],
    ) -> None:
        """The pairs of every slot: of all sequences, or of those that were missed."""
        slots = levels.constants["RANKS"]
        progress = program.words(4 * (len(levels.digits) + 1) * slots * levels.sequences)
        bind = bind | {"histogram": levels.histogram, "progress": progress, "ranks": ranks.region}
        constants, wanted = levels.constants | {"GATE": gate}, wanted_params(view, ranks, part)
        previous = {"previous_word": 0, "previous_shift": 0}
        for level, (word, shift, bits) in enumerate(levels.digits):
            for source in sources:
                # As many items as counters: clearing and adding those takes as long.
                most = max(1, source.length // (slots * levels.constants["BINS"]))
                parts = min(most, parts_of_rows(self.machine, self.occupancy, source, levels.sequences))
                if gate:
                    # Nearly always none was missed, and workgroups take time to find that out.
                    parts = min(parts, max(1, _GATED * self.occupancy.processors // levels.sequences))
                digit = {"level": level, "digit_word": word, "digit_shift": shift, "digit_bits": bits, "k": 0}
                program.dispatch(
                    "ranks/histogram",
                    levels.sequences * parts,
                    source=source,
                    bind=bind,
                    constants=constants,
                    params=previous | digit | wanted | {"parts": parts},
                )
            previous = {"previous_word": word, "previous_shift": shift}
        program.dispatch(
            "ranks/pairs",
            levels.sequences,
            source=view,
            bind=bind | bound_pairs(sink),
            constants=constants,
            params=wanted | previous | {"level": len(levels.digits), "sink_step": sink.step},
        )

    # -- brackets from a sample --

    def _between(
        self, program: Program, view: View, sequences: int, ranks: Ranks, part: Part, brackets: Brackets, sink: Pairs
    ) -> None:
        """By one read that lists what lies in brackets, and by the lists."""
        start, lists = program.arena.used, sequences * brackets.count
        many = view.length <= _LISTED_LENGTH or (sequences >= _MANY and brackets.places <= _LISTED)
        bins = 0 if many else self._constants(brackets.most)["BINS"]
        counters = program.words(lists * (bins + 2))
        cleared = {} if many else {"missed": program.words(sequences), "narrowed": program.words(lists)}
        of_all = None if many else self._levels(program, sequences, part.wanted, ranks.positions)
        self._clear(program, start)
        room = 0 if many else brackets.places // _NARROWED
        pairs = replace(program.pairs(lists, brackets.places + room), length=brackets.places)
        table = program.words(8 * lists)
        self._sample(program, view, sequences, brackets, table)
        told = {"brackets": table, "list_counters": counters}
        self._list(program, view, sequences, part, brackets, pairs, bins, told, sink)
        told |= {"bounds": brackets.bounds_at, "ranks": ranks.region}
        params = {"sequences": lists, "chosen": brackets.count, "places": brackets.places}
        wanted = wanted_params(view, ranks, part)
        if of_all is None:
            self._listed(program, pairs, brackets, wanted | params, told, sink)
            chosen = {"chosen": brackets.count}
            self._rows(program, view, view, sink, part.wanted, ranks, wanted | chosen, {"list_counters": counters})
        else:
            self._narrow(program, pairs, brackets, wanted, params | {"longest": room}, told | cleared, sink)
            self._find(program, of_all, [view], view, sink, part, 1, ranks, {"missed": cleared["missed"]})

    def _listed(
        self,
        program: Program,
        pairs: Pairs,
        brackets: Brackets,
        params: dict[str, int],
        told: dict[str, Region],
        sink: Pairs,
    ) -> None:
        """The pairs at the ranks of lists, by a workgroup each."""
        slots = power_of_two_above(brackets.most)
        workgroup = max(self.machine.workgroup, _TEAM * slots)
        bins = max(workgroup, min(_ROW_BINS, power_of_two_below(self.memory // 8)))
        program.dispatch(
            "ranks/listed",
            params["sequences"],
            source=pairs,
            bind=told | bound_pairs(sink),
            constants=self._searching(self._slots(slots, workgroup, bins // slots)) | {"LIST_BINS": 0},
            # How far a pair lies in its bracket has all bits.
            params=params | {"key_bits": 64, "sink_step": sink.step},
        )

    def _narrow(
        self,
        program: Program,
        pairs: Pairs,
        brackets: Brackets,
        wanted: dict[str, int],
        params: dict[str, int],
        told: dict[str, Region],
        sink: Pairs,
    ) -> None:
        """The pairs at the ranks of few long lists, each by many workgroups as far as a digit."""
        lists, constants = params["sequences"], self._constants(brackets.most)
        constants["LIST_BINS"] = constants["BINS"]
        progress = program.words(4 * lists * (constants["RANKS"] + 1))
        # As many pairs as counters, and more: each workgroup clears, adds up or scans those.
        most = parts_of_rows(self.machine, self.occupancy, pairs, lists)
        parts = max(1, min(most, pairs.length // (4 * constants["BINS"])))
        program.dispatch(
            "ranks/list_digits",
            lists * parts,
            source=pairs,
            bind={"list_counters": told["list_counters"]},
            constants={name: constants[name] for name in ("BINS", "LIST_BINS")},
            params={"sequences": lists, "parts": parts},
        )
        program.dispatch(
            "ranks/narrow",
            lists * parts,
            source=pairs,
            bind={name: region for name, region in told.items() if name != "brackets"} | {"progress": progress},
            constants=constants,
            params=wanted | params | {"parts": parts},
        )
        program.dispatch(
            "ranks/narrowed",
            lists,
            source=pairs,
            bind={name: told[name] for name in ("narrowed", "bounds", "brackets")} | {"progress": progress} | bound_pairs(sink),
            constants=self._searching(constants),
            # How far a pair lies in its bracket has all bits.
            params=params | {"key_bits": 64, "sink_step": sink.step, "first_rank": wanted["first_rank"]},
        )

    def _sample(self, program: Program, view: View, sequences: int, brackets: Brackets, table: Region) -> None:
        """Brackets from samples."""
        ends, sample, key_words = 2 * brackets.count, brackets.sample, program.selection.format.key_words
        many = sample.samples > 1
        slots = power_of_two_above(ends)
        workgroup = max(self.machine.workgroup, _TEAM * slots)
        bins = max(workgroup, min(slots << _ROW_DIGIT, power_of_two_below(self.memory // 8)))
        held = self._sampled(view) * self.machine.workgroup // workgroup
        # So few places away an end costs less than another digit does.
        slack = max(1, math.isqrt(sample.size(view.length)) // (16 if many else 4))
        estimates = program.words(4 * sequences * ends * sample.samples) if many else table
        program.dispatch(
            "ranks/sample",
            sequences * sample.samples,
            source=view,
            bind={"brackets": estimates, "sampled": brackets.sampled},
            constants=self._searching(self._slots(slots, workgroup, bins // slots))
            | {"BRACKETS": brackets.count, "SAMPLED": max(1, held), "HELD": _ROW_HELD // key_words}
            | {"RUN": sample.run // view.per_load, "UNROLLED": int(not many)},
            params={"parts": sample.samples, "every": sample.every, "slack": slack},
        )
        if many:
            program.dispatch(
                "ranks/brackets",
                sequences * ends,
                bind={"estimates": estimates, "brackets": table},
                params={"parts": sample.samples, "slack": _LEFT_OUT, "ranks": ends},
            )

    def _list(
        self,
        program: Program,
        view: View,
        sequences: int,
        part: Part,
        brackets: Brackets,
        lists: Pairs,
        bins: int,
        bind: dict[str, Region],
        sink: Pairs,
    ) -> None:
        """What lies in the brackets, and the last pair of all, by one read."""
        parts = parts_of_rows(self.machine, self.occupancy, view, sequences)
        constants = self._brackets(view, part) | {"COLLECTED": _COLLECTED, "LIST_BINS": bins}
        lasts = {"lasts": program.words(4 * sequences * parts)} if part.last else {}
        # As many turns as are expected to leave half of the room free.
        items = constants["AGAIN"] * view.per_load * self.machine.workgroup
        free = _COLLECTED * view.length // (2 * items * brackets.between)
        program.dispatch(
            "ranks/between",
            sequences * parts,
            source=view,
            bind=bind | lasts | {"list_keys": lists.keys, "list_indices": lists.indices},
            constants=constants,
            params={"parts": parts, "places": brackets.places, "sink_step": lists.step, "turns": max(1, free)},
        )
        if part.last:
            last = {"sink_step": sink.step, "first_rank": part.first + part.wanted}
            program.dispatch("ranks/last", sequences, bind=lasts | bound_pairs(sink), params=last | {"parts": parts})
