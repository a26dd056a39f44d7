"""A workgroup a row, whose k-th is found by histograms of its digits. One read, or a few."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import NamedTuple

from ..machine import ceil_div, power_of_two_above
from ..problem import Problem
from ..program import Program
from ..regions import Pairs, Sink, loads_again
from .base import Algorithm, uses
from .parts import bins_of, class_above, held_bytes
from .row_sort_radix import RowSortRadix

_LARGEST_K = 8192
_NARROWEST, _WIDEST = 64, 512  # invocations
_DIGIT, _LARGEST_DIGIT = 8, 11  # bits of a digit, at least and at most
_FEW_BINS, _BINS = 2, 8  # of an invocation, where a digit has more
_LOADS = 16  # that an invocation reads, about
_ITEMS = 32  # that it reads, about, where rows are so few that invocations are idle else
#: Rows that have a processor each are read, sampled and sorted by twice as many invocations, of
#: twice as large a sample (benchmarks/LOG.md#few-rows-by-digits-2026-11-30-2ecb68c).
_ALONE = 2
_HELD = 4  # of the k for each invocation, where a workgroup may have so many
_FEWEST = 128  # places of a list, at least
_LISTS = 4  # sizes of a list from one power of two to the next
_MOST = 16  # pairs of a list that an invocation sorts, at most
#: Bytes of a list for each invocation, over which twice as many serve it: with so many registers,
#: few of them are at work at once (benchmarks/LOG.md#registers-of-a-list-2026-11-27-63320ac).
_MOST_BYTES = 40
#: Items that an invocation reads, or those of one load. Half of each are the sample's, so that
#: registers are few (benchmarks/LOG.md#half-of-each-load-2026-11-29-ca92aa9).
_SAMPLE = 4
#: A list in scratch is to have little room to spare, so its sample is larger. Small workgroups have
#: registers for that (benchmarks/LOG.md#samples-of-lists-in-scratch-2026-11-27-8b4535c).
_SPILLED_SAMPLE = 16
_SPILLED_WIDEST = 256
_FEWEST_RANKS = 12  # of a sample up to the threshold, or it tells too little
#: Rows of a processor, up to which all wait for the one that is read again (the figures of _ALONE).
_FEW = 2
_BEFORE = 0.45  # of a list's places beyond k, before a threshold, at most: later ones vary more


class _Margins(NamedTuple):
    """Standard deviations of how many items are up to a sample's threshold, beyond k."""

    aim: float  # It is to have so many.
    slack: float  # It may be so many later.
    room: float  # A list has so many places,
    least: float  # or so many, which is what workgroup memory has.


#: A row whose sample misleads is read again. That takes longer with a list in scratch
#: (benchmarks/LOG.md#samples-of-lists-in-scratch-2026-11-27-8b4535c).
_IN_MEMORY, _IN_SCRATCH = _Margins(2.5, 0.7, 6.0, 4.0), _Margins(3.0, 0.5, 6.5, 6.5)
#: One in thousands of few rows misleads.
_FEW_IN_MEMORY, _FEW_IN_SCRATCH = _Margins(3.5, 0.7, 8.0, 7.0), _Margins(4.0, 0.5, 8.0, 8.0)


class _Sample(NamedTuple):
    """What is read of a row before all of it."""

    loads: int  # of an invocation; 0 without a sample
    items: int  # of each of those loads: all, or half
    stride: int = 1  # One load in so many is read.
    every: int = 1  # One item in so many is in the sample.

    def of(self, problem: Problem, workgroup: int) -> _Sample:
        """This many loads and items for each of so many invocations."""
        stride = ceil_div(problem.loads, workgroup * self.loads)
        return self._replace(stride=stride, every=stride * problem.view.per_load // self.items)


_NO_SAMPLE = _Sample(0, 1)


def _deviation(k: int, every: int) -> float:
    """Of how many items are up to what has k items up to it by a sample."""
    return float((k * every) ** 0.5)


def _digit(bins: int) -> int:
    """Bits of a digit with about so many bins."""
    return max(_DIGIT, min(_LARGEST_DIGIT, bins.bit_length() - 1))


class _Shape(NamedTuple):
    workgroup: int
    digit: int
    places: int  # of a row's list
    spilled: bool  # to scratch
    sample: _Sample = _NO_SAMPLE
    margins: _Margins = _IN_MEMORY


class SelectDigits(Algorithm[None]):
    """The k-th pair digit by digit, what is up to it, and its order, in one workgroup."""

    name = "select_digits"
    summary = "a threshold by histograms of digits and a small sort in a workgroup; one read or a few"
    sort = uses(RowSortRadix)

    def check(self, problem: Problem) -> _Shape:
        k = problem.k
        self.require(1 < k <= _LARGEST_K, f"takes k from 2 to {_LARGEST_K}, not k={k}")
        source = self.check_one_axis(problem)
        # More invocations leave less memory for a list.
        workgroups = [self._workgroup(problem, times) for times in dict.fromkeys((self._times(problem), 1))]
        wide, tight = (k + max(k // part, source.per_load) for part in (4, 16))
        shape = self._by_sample(problem, workgroups, wide, tight) or self._by_counts(problem, workgroups, wide, tight)
        return shape or self._spilled(problem, min(_SPILLED_WIDEST, workgroups[-1])) or self._without_list(problem, workgroups[-1])

    def _by_sample(self, problem: Problem, workgroups: list[int], wide: int, tight: int) -> _Shape | None:
        """With a list whose room a sample's threshold hardly exceeds."""
        choices = (_FEW_IN_MEMORY, _IN_MEMORY) if self._few(problem) else (_IN_MEMORY,)
        for margins, workgroup in product(choices, workgroups):
            digit = _digit(_FEW_BINS * workgroup)  # A sample needs few bins.
            for sample in self._samples(problem, workgroup):
                deviation = _deviation(problem.k, sample.every)
                for least in (max(wide, problem.k + int(margins.room * deviation)), wide, tight):
                    places = self._places(problem, workgroup, digit, least)
                    if problem.k + margins.least * deviation <= places <= problem.length // 2:
                        return self._widened(problem, _Shape(workgroup, digit, places, False, sample, margins))
        return None

    def _by_counts(self, problem: Problem, workgroups: list[int], wide: int, tight: int) -> _Shape | None:
        """With a list, by histograms of whole rows. One with little to spare takes more digits."""
        for workgroup in workgroups:
            fewest, digit = _digit(_FEW_BINS * workgroup), self._large_digit(problem, workgroup)
            for bits, least in ((digit, wide), (digit, tight), (fewest, tight)):
                places = self._places(problem, workgroup, bits, least)
                if places:
                    return self._widened(problem, _Shape(workgroup, bits, places, False))
        return None

    def _without_list(self, problem: Problem, workgroup: int) -> _Shape:
        return _Shape(workgroup, self._large_digit(problem, workgroup), problem.k, True)

    @staticmethod
    def _large_digit(problem: Problem, workgroup: int) -> int:
        """Of whole rows large digits spare reads, and each bin takes as long as an item.

        See benchmarks/LOG.md#bins-for-the-items-of-a-row-2026-11-28-1142c74.
        """
        return _digit(min(_BINS * workgroup, problem.length // 2))

    def _places(self, problem: Problem, workgroup: int, digit: int, least: int) -> int:
        """Of a list in workgroup memory with so many places at least, or 0 where it has no room."""
        places = max(_FEWEST, class_above(least, _LISTS))
        return places if places <= min(self._room(problem, workgroup, digit), _MOST * workgroup) else 0

    def _room(self, problem: Problem, workgroup: int, digit: int) -> int:
        """Places of a list in workgroup memory."""
        return (self.memory - (4 << digit) - 8 * workgroup - 256) // held_bytes(problem)

    def _widened(self, problem: Problem, shape: _Shape) -> _Shape:
        """By twice as many invocations where each would have many words of a list in registers."""
        workgroup, sample = 2 * shape.workgroup, shape.sample
        if sample.loads:
            sample = sample.of(problem, workgroup)
        if (
            shape.places * held_bytes(problem) <= _MOST_BYTES * shape.workgroup
            or workgroup > min(self.machine.widest_workgroup, 1 << shape.digit)
            or shape.places > self._room(problem, workgroup, shape.digit)
            or (shape.sample.loads > 0 and sample.stride == 1)
        ):
            return shape
        return shape._replace(workgroup=workgroup, sample=sample)

    def _spilled(self, problem: Problem, workgroup: int) -> _Shape | None:
        """Of a list in scratch with room beyond k, where one workgroup can sort that."""
        per_load = problem.view.per_load
        sample = _Sample(max(1, _SPILLED_SAMPLE // per_load), per_load).of(problem, workgroup)
        if not self._tells(problem, sample):
            return None
        for margins in (_FEW_IN_SCRATCH, _IN_SCRATCH) if self._few(problem) else (_IN_SCRATCH,):
            places = class_above(problem.k + int(margins.room * _deviation(problem.k, sample.every)), 2 * _LISTS)
            fits = problem.length >= 2 * places and self.sort.shape_of(places, 8 * problem.format.bytes) is not None
            if fits:
                return _Shape(workgroup, _digit(_FEW_BINS * workgroup), places, True, sample, margins)
        return None

    def _few(self, problem: Problem) -> bool:
        return problem.sequences <= _FEW * self.occupancy.processors

    def _times(self, problem: Problem) -> int:
        """How many times the invocations that more rows have, and the sample."""
        return _ALONE if problem.sequences <= self.occupancy.processors else 1

    def samples(self, problem: Problem) -> bool:
        """Does a sample tell the threshold?"""
        return self.serves(problem) is None and self.check(problem).sample.loads > 0

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape = self.check(problem)
        if not shape.spilled:
            self._select(program, problem, shape, sink)
            return
        lists = replace(program.pairs(problem.sequences, shape.places), in_order=True)
        if shape.sample.loads:
            lists = replace(lists, counts=program.words(problem.sequences))
        self._select(program, problem, shape, lists)
        program.run(lists, problem.sequences, problem.k, sink)

    def _workgroup(self, problem: Problem, times: int) -> int:
        """Invocations of a workgroup. Of many rows small ones take less: more are under way."""
        wanted = max(_NARROWEST, power_of_two_above(ceil_div(problem.loads, _LOADS)), power_of_two_above(problem.k // _HELD))
        idle = power_of_two_above(self.occupancy.invocations // problem.sequences)
        wanted = max(wanted, min(idle, times * power_of_two_above(ceil_div(problem.length, _ITEMS))))
        return min(times * _WIDEST, self.machine.widest_workgroup, wanted)

    def _samples(self, problem: Problem, workgroup: int) -> list[_Sample]:
        """Those that tell: of halves of loads, and of whole ones; the larger ones first."""
        per_load = problem.view.per_load
        loads = dict.fromkeys(max(1, times * _SAMPLE // per_load) for times in (self._times(problem), 1))
        items = dict.fromkeys((max(1, per_load // 2), per_load))
        samples = (_Sample(n, each).of(problem, workgroup) for n in loads for each in items)
        return [sample for sample in samples if self._tells(problem, sample)]

    def _tells(self, problem: Problem, sample: _Sample) -> bool:
        """Not of short rows, nor of few ranks.

        A software adapter takes half a second to compile a sample's search, and gains little.
        """
        return sample.stride > 1 and sample.every <= problem.k // _FEWEST_RANKS and not self.machine.software

    @staticmethod
    def _sampling(k: int, shape: _Shape) -> dict[str, int]:
        """Parameters of a sample, and of a rank of it up to which some more than k items are."""
        stride, every = shape.sample.stride, shape.sample.every
        if every == 1:
            return {"stride": 1, "every": 1}
        deviation, margins = _deviation(k, every), shape.margins
        # Of little room as much behind as before.
        aim = min(margins.aim, ((shape.places - k) / deviation - margins.slack) * _BEFORE)
        rank, slack = ceil_div(k + int(aim * deviation), every), int(margins.slack * deviation) // every
        return {"stride": stride, "every": every, "sample_rank": rank, "sample_slack": slack}

    def _select(self, program: Program, problem: Problem, shape: _Shape, sink: Sink) -> None:
        sample = shape.sample
        counts = sink.counts if isinstance(sink, Pairs) else None
        program.dispatch(
            "select/digits",
            problem.sequences,
            source=problem.source,
            sink=sink,
            bind={"lengths": counts} if counts else None,
            constants={
                "WORKGROUP": shape.workgroup,
                **bins_of(shape.digit, shape.workgroup),
                "SPILLED": int(shape.spilled),
                "PLACES": shape.places,
                "CARRIED": ceil_div(shape.places, shape.workgroup),
                "SAMPLED": sample.loads,
                "SAMPLED_ITEMS": sample.items,
                "EACH": max(1, sample.loads * sample.items),
                # Hardly any row is counted where a sample tells, but short spans: less to compile.
                "COUNTED_AT_ONCE": 1 if sample.loads else loads_again(problem.view.per_load),
            },
            params=self._sampling(problem.k, shape)
            | {
                "k": problem.k,
                "least": problem.k,
                "places": shape.places,
                "slack": shape.places - problem.k,
            },
        )
