"""The pairs at ranks of rows between brackets that a sample tells. One read, and lists."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..policy import number
from ..program import Program
from ..regions import Pairs, Region, View, loads_again
from .base import Step, uses
from .digit_ranks import DigitRanks
from .rank_table import Brackets, Sample, Search, bound_pairs

_COLLECTED = 512  # pairs that a workgroup collects: little memory, so that many share a processor
# benchmarks/LOG.md#narrower-brackets-2026-11-29-bc564c1
_SAMPLES, _LEFT_OUT = 128, 48  # of a long row, and how many of them a bracket leaves out at an end
_BEYOND = 0.1  # standard deviations of one of them that its ends lie beyond a rank
_SPREAD = 0.31  # standard deviations of one of them that the others then lie apart
_EVERY = 16  # one load in so many, or fewer, is in any of them
_NARROWED = 8  # a list has room for one in so many of its pairs behind it
_LISTED_LENGTH = 1 << 18  # items of rows whose lists have a workgroup each
_LEVELS_BYTES = 1 << 18  # counters of longer rows, about, for what a list missed
_MANY, _LISTED = 64, 1 << 16  # so many lists have, of up to so many places
_ROW_RUN, _ROW_EVERY = 4, 4  # of rows, it is runs of so many loads, one in so many or more
_ROW_HELD = 32  # words of keys that an invocation holds in registers
_ROW_DIGIT = 8  # bits
_ROW_DEVIATIONS = 4  # of thousands of rows hardly one is missed
_ROW_BINS = 512  # counters of a workgroup that looks at a row's list: many share a processor


@dataclass(frozen=True)
class BetweenRanksPolicy:
    """Where many samples of a long row pay."""

    #: Many samples are taken of few rows of this many items and more.
    sample_length: int = number(1 << 22, 4096, 1 << 32)


class BetweenRanks(Step[BetweenRanksPolicy]):
    """A sample tells brackets, narrow and nearly sure to hold the wanted pairs.

    One read lists what lies in them and counts what lies before. Where a bracket missed, or its
    list overflowed, all items are looked at after all, digit by digit.
    """

    name = "between_ranks"
    digits = uses(DigitRanks)

    def sample_of(self, view: View, sequences: int) -> Sample | None:
        """What may be taken of rows: many samples of a long one, else one; None where nothing."""
        length, per_load = view.length, view.per_load
        held = self._sampled(view) * self.machine.workgroup
        if length >= self.policy.sample_length and self.parts_of_rows(view, sequences) > 1:
            every = max(_EVERY, ceil_div(length // per_load, held * _SAMPLES))
            return Sample(per_load, every, _SAMPLES, _BEYOND, 1, _SPREAD, length * 2 // 5, self.digits.together)
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
        return Sample(_ROW_RUN * per_load, every, 1, _ROW_DEVIATIONS, 8, 0, room, self.machine.workgroup // self.digits.fewest)

    @staticmethod
    def _sampled(view: View) -> int:
        """Loads of a row's sample that an invocation holds."""
        return max(1, _ROW_HELD // (view.per_load * view.selection.format.key_words))

    def build(self, program: Program, search: Search, brackets: Brackets) -> None:
        """By one read that lists what lies in brackets, and by the lists."""
        view, sequences = search.view, search.sequences
        start, lists = program.arena.used, sequences * brackets.count
        many = view.length <= _LISTED_LENGTH or (sequences >= _MANY and brackets.places <= _LISTED)
        bins = 0 if many else self.digits.constants_of(brackets.most)["BINS"]
        counters = program.words(lists * (bins + 2))
        cleared = {} if many else {"missed": program.words(sequences), "narrowed": program.words(lists)}
        of_all = None if many else self.digits.levels(program, search)
        program.clear(Region(start, program.arena.used - start))
        room = 0 if many else brackets.places // _NARROWED
        pairs = replace(program.pairs(lists, brackets.places + room), length=brackets.places)
        table = program.words(8 * lists)
        self._sample(program, view, sequences, brackets, table)
        told = {"brackets": table, "list_counters": counters}
        self._list(program, search, brackets, pairs, bins, told)
        told |= {"bounds": brackets.bounds_at, "ranks": search.ranks.region}
        params = {"sequences": lists, "brackets": brackets.count, "places": brackets.places}
        if of_all is None:
            self._listed(program, search, pairs, brackets, params, told)
            self.digits.rows(program, search, view, {"list_counters": counters}, {"brackets": brackets.count})
        else:
            self._narrow(program, search, pairs, brackets, params | {"longest": room}, told | cleared)
            self.digits.find(program, of_all, search, [view], {"missed": cleared["missed"]})

    def _listed(
        self,
        program: Program,
        search: Search,
        pairs: Pairs,
        brackets: Brackets,
        params: dict[str, int],
        told: dict[str, Region],
    ) -> None:
        """The pairs at the ranks of lists, by a workgroup each."""
        slots = power_of_two_above(brackets.most)
        workgroup = self.digits.workgroup(slots)
        bins = max(workgroup, min(_ROW_BINS, power_of_two_below(self.memory // 8)))
        program.dispatch(
            "ranks/listed",
            params["sequences"],
            source=pairs,
            bind=told | bound_pairs(search.sink),
            constants=self.digits.searching(self.digits.slots(slots, workgroup, bins // slots)) | {"LIST_BINS": 0},
            # How far a pair lies in its bracket has all bits.
            params=search.params | params | {"key_bits": 64, "sink_step": search.sink.step},
        )

    def _narrow(
        self,
        program: Program,
        search: Search,
        pairs: Pairs,
        brackets: Brackets,
        params: dict[str, int],
        told: dict[str, Region],
    ) -> None:
        """The pairs at the ranks of few long lists, each by many workgroups as far as a digit."""
        lists, constants = params["sequences"], self.digits.constants_of(brackets.most)
        constants["LIST_BINS"] = constants["BINS"]
        progress = program.words(4 * lists * (constants["RANKS"] + 1))
        # As many pairs as counters, and more: each workgroup clears, adds up or scans those.
        most = self.parts_of_rows(pairs, lists)
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
            constants={name: value for name, value in constants.items() if name != "BINS"},
            params=search.params | params | {"parts": parts},
        )
        program.dispatch(
            "ranks/narrowed",
            lists,
            source=pairs,
            bind={name: told[name] for name in ("narrowed", "bounds", "brackets")}
            | {"progress": progress}
            | bound_pairs(search.sink),
            constants=self.digits.searching(constants),
            # How far a pair lies in its bracket has all bits.
            params=params | {"key_bits": 64, "sink_step": search.sink.step, "first_rank": search.part.first},
        )

    def _sample(self, program: Program, view: View, sequences: int, brackets: Brackets, table: Region) -> None:
        """Brackets from samples."""
        ends, sample, key_words = 2 * brackets.count, brackets.sample, program.selection.format.key_words
        many = sample.samples > 1
        slots = power_of_two_above(ends)
        workgroup = self.digits.workgroup(slots)
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
            constants=self.digits.searching(self.digits.slots(slots, workgroup, bins // slots))
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
        search: Search,
        brackets: Brackets,
        lists: Pairs,
        bins: int,
        bind: dict[str, Region],
    ) -> None:
        """What lies in the brackets, and the last pair of all, by one read."""
        view, sequences, part = search.view, search.sequences, search.part
        parts, count = self.parts_of_rows(view, sequences), brackets.count
        lasts = {"lasts": program.words(4 * sequences * parts)} if part.last else {}
        # As few batches as are expected to leave half of the room free, of as many turns each.
        loads = loads_again(view.per_load) * self.machine.workgroup
        free = _COLLECTED * view.length // (2 * loads * view.per_load * brackets.between)
        turns = ceil_div(view.most_loads, loads * parts)
        turns = ceil_div(turns, ceil_div(turns, max(1, free)))
        program.dispatch(
            "ranks/between",
            sequences * parts,
            source=view,
            bind=bind | lasts | {"list_keys": lists.keys, "list_indices": lists.indices},
            constants={"EDGES": power_of_two_above(count + 1), "EDGE_STEPS": count.bit_length(), "BRACKETS": count}
            | {"LAST": int(part.last), "COLLECTED": _COLLECTED, "LIST_BINS": bins},
            params={"parts": parts, "places": brackets.places, "sink_step": lists.step, "turns": turns},
        )
        if part.last:
            last = {"sink_step": search.sink.step, "first_rank": part.first + part.wanted}
            program.dispatch("ranks/last", sequences, bind=lasts | bound_pairs(search.sink), params=last | {"parts": parts})
