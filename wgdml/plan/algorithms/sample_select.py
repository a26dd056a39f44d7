"""Few long rows: a threshold and splitters from a sample, and a sort of each bucket."""

from __future__ import annotations

from typing import NamedTuple

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..problem import Problem
from ..program import Program
from ..regions import MEETING_BYTES, Sink
from .base import Algorithm
from .parts import bins_of, class_above, held_bytes, pair_bytes, sorted_at_once

_READING = 512  # invocations of a workgroup that reads
#: Invocations of a workgroup that sorts: twice as many where all of them are at work at once
#: (benchmarks/LOG.md#few-rows-that-a-workgroup-reads-for-long-2026-11-30-cb6652b).
_SORTING = 256
_DIGIT = 9  # bits of a digit: a bin for each invocation
_SAMPLE = 32  # items of an invocation's sample, at most
_TAKEN = 4  # of them of a load, at most: neighbours may be alike
_ROOM = 1024  # pairs of the sample that a workgroup has room for, up to the threshold and some more
_FEWEST_RANKS = 4  # of the sample up to the k-th item, at least
_RANKS = 4  # of them for each bucket, where the sample is so large: more make buckets alike
_BUCKET = 192  # pairs of a bucket, about
_MOST_BUCKETS = 32
#: Standard deviations of how many of the sample are up to an item. The threshold is so many beyond
#: the k-th, and the last place of a list so many beyond the threshold.
_MARGIN = 4.0
#: Items of the sample by which the threshold lies further on. Where few are up to the k-th, more of
#: them are likelier than by a normal distribution (Cornish and Fisher, 1938).
_SKEW = (_MARGIN**2 - 1) / 6
#: A bucket has room for this much more than the root of its ranks of the sample, squared, and for
#: more where others may be full too: 3 rows in 100,000 have one that is.
_FULL, _FULL_OF_MORE = 2.1, 0.1
#: Where memory has less room, a bucket may have so much less: 8 rows in 100,000 have one that is.
_LESS = 0.95
_MOST_FOUND = 4096
_LISTS = 4  # sizes of a list from one power of two to the next


class _Sample(NamedTuple):
    loads: int  # of an invocation
    taken: int  # items of a load
    every: int  # One load in so many is in the sample.
    items: int  # One item in so many is in the sample.
    rank: int  # of the sample, of the threshold


class _Shape(NamedTuple):
    workgroup: int  # that reads
    sorting: int  # invocations that sort
    sample: _Sample
    room: int  # pairs of the sample
    parts: int
    found: int  # pairs of a part that there is room for
    buckets: int
    places: int  # of a sequence's list
    sorted_at_once: int  # pairs of a bucket


class SampleSelect(Algorithm[None]):
    """Every workgroup finds the same splitters; a workgroup sorts a bucket."""

    name = "sample_select"
    summary = "a threshold and splitters from a sample, and a sort of each bucket between them; one read"

    def check(self, problem: Problem) -> _Shape:
        self.check_one_axis(problem)
        k = problem.k
        self.require(8 * problem.sequences <= MEETING_BYTES, f"takes up to {MEETING_BYTES // 8} sequences, not {problem.sequences}")
        workgroup, sorting = (min(n, self.machine.widest_workgroup) for n in (_READING, _SORTING))
        memory = self.memory - (4 << _DIGIT) - 8 * workgroup - 2048
        room = min(_ROOM, power_of_two_below(memory // (8 + pair_bytes(problem.key_words))))
        most = min(_MOST_FOUND, power_of_two_below((memory - pair_bytes(problem.key_words) * room) // 8))
        widest = self._sorted_by(problem, sorting)
        buckets = min(_MOST_BUCKETS, power_of_two_below(k // min(_BUCKET, widest // 12)))
        sample = self._sample(problem, workgroup, buckets, room)
        while buckets > 1 and sample.rank < _RANKS * buckets:
            buckets //= 2
        pairs = sample.rank * sample.items
        # As many as n of the sample stand for, where n - _MARGIN * n**0.5 is the threshold's rank.
        places = int(sample.items * ((_MARGIN + (_MARGIN**2 + 4 * sample.rank) ** 0.5) / 2) ** 2)
        parts = max(1, min(self.occupancy.processors // problem.sequences, problem.loads // (4 * workgroup), sorting))
        while parts < sorting and self._found(places, parts) > most:
            parts += 1
        found = max(room, power_of_two_above(self._found(places, parts)))
        full = self._full(sample, buckets)
        self.require(_LESS * full <= widest and found <= most, f"takes fewer than {pairs} pairs of a sequence")
        wide = min(2 * sorting, self.machine.widest_workgroup)
        if wide * buckets * problem.sequences <= self.occupancy.invocations and full <= self._sorted_by(problem, wide):
            sorting = wide
        size = min(class_above(full, _LISTS), self._sorted_by(problem, sorting))
        return _Shape(workgroup, sorting, sample, room, parts, found, buckets, places, size)

    def _sorted_by(self, problem: Problem, workgroup: int) -> int:
        """The most pairs that so many invocations sort at once."""
        return sorted_at_once(problem, self.memory, workgroup, _DIGIT)

    @staticmethod
    def _full(sample: _Sample, buckets: int) -> int:
        """Pairs that hardly any bucket has more of."""
        ranks = ceil_div(sample.rank, buckets)
        return int(sample.items * (ranks**0.5 + _FULL + _FULL_OF_MORE * (buckets.bit_length() - 1)) ** 2)

    @staticmethod
    def _found(places: int, parts: int) -> int:
        """A part's share of a full list, and as many deviations more."""
        share = places / parts
        return int(share + _MARGIN * (share * (1 - 1 / parts)) ** 0.5)

    def _sample(self, problem: Problem, workgroup: int, buckets: int, room: int) -> _Sample:
        """As small as tells enough ranks."""
        source, k = problem.view, problem.k
        taken = min(_TAKEN, source.per_load)
        apart = source.per_load // taken
        for loads in (1, 2, 4, 8, 16, 32):
            # Sorted items may have all of a load up to the threshold, if any.
            every = max(ceil_div(source.loads, workgroup * loads), k // (apart * min(2 * _RANKS * buckets, room // (2 * taken))))
            if k >= _RANKS * buckets * every * apart or 2 * loads * taken > _SAMPLE:
                break
        items = every * apart
        least = _FEWEST_RANKS * items
        self.require(every >= 2 and k >= least, f"takes k from {least} on of {problem.length} items here, not k={k}")
        rank = ceil_div(k + int(_MARGIN * (k * items) ** 0.5 + _SKEW * items), items)
        self.require(4 * source.loads >= 5 * rank * every, f"takes longer rows than of {problem.length} items with k={k}")
        most = min(4 * workgroup // 5, room // taken)
        self.require(rank <= most, f"takes up to {most} pairs of a sample, not the {rank} that k={k} needs here")
        return _Sample(loads, taken, every, items, rank)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape, sequences, k = self.check(problem), problem.sequences, problem.k
        sample, per_load = shape.sample, problem.view.per_load
        bind = {
            "pairs": program.words(sequences * shape.places * held_bytes(problem) // 4),
            # Of each part, and behind them the splitters.
            "part_begins": program.words(sequences * (shape.buckets + 1) * (shape.parts + problem.key_words + 1)),
            "lengths": program.arena.meeting(),
        }
        params = {"k": k, "least": k, "parts": shape.parts, "buckets": shape.buckets, "places": shape.places}
        program.dispatch(
            "sample_select/split",
            sequences * shape.parts,
            source=problem.source,
            bind=bind,
            constants={
                "WORKGROUP": shape.workgroup,
                **bins_of(_DIGIT, shape.workgroup),
                "SAMPLED": sample.loads,
                "TAKEN": sample.taken,
                "APART": per_load // sample.taken,
                "ITEMS": sample.loads * sample.taken,
                "EACH": 1,
                "BUCKETS": _MOST_BUCKETS,
                "ROOM": shape.room,
                "FOUND": shape.found,
            },
            params=params | {"every": sample.every, "sample_rank": sample.rank},
        )
        program.dispatch(
            "sample_select/order",
            sequences * shape.buckets,
            source=problem.source,
            sink=sink,
            bind=bind,
            constants={
                "WORKGROUP": shape.sorting,
                **bins_of(_DIGIT, shape.sorting),
                "PLACES": shape.sorted_at_once,
                "CARRIED": ceil_div(shape.sorted_at_once, shape.sorting),
            },
            params=params,
        )
