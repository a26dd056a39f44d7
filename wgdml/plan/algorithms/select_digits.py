"""A workgroup a row, whose k-th is found by histograms of its digits. One read, or a few."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from ..machine import ceil_div, power_of_two_above
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Sink
from .base import Algorithm
from .parts import class_above, held_bytes

_LARGEST_K = 8192
_NARROWEST, _WIDEST = 64, 512  # invocations
_DIGIT, _LARGEST_DIGIT = 8, 11  # bits of a digit, at least and at most
_FEW_BINS, _BINS = 2, 8  # of an invocation, where a digit has more
_LOADS = 16  # that an invocation reads, about
_ITEMS = 32  # that it reads, about, where rows are so few that invocations are idle else
_HELD = 4  # of the k for each invocation, where a workgroup may have so many
_FEWEST = 128  # places of a list, at least
_LISTS = 4  # sizes of a list from one power of two to the next
_MOST = 16  # pairs of a list that an invocation sorts, at most
_UNSPLIT = 2048  # places of a list whose buckets are not split
_UNROLLED = 32  # items under way at once, at most: a bit of a word each
_SAMPLE = 4  # items of an invocation's sample, or those of one load
_FEWEST_RANKS = 12  # of a sample up to the threshold, or it tells too little
#: Standard deviations of how many items are up to a sample's threshold. It aims at k and so many
#: more, may be so many later, and a list has room for so many more than k, or for fewer at least.
_AIM, _SLACK, _ROOM, _LEAST_ROOM = 2.5, 0.7, 6.0, 4.0


@dataclass(frozen=True)
class _Sample:
    every: int  # One load in so many, or 1.
    sample_rank: int
    sample_slack: int


def _deviation(k: int, every: int) -> float:
    """Of how many items are up to what has k items up to it by a sample."""
    return float((k * every) ** 0.5)


def _sampled(problem: Problem) -> int:
    """Loads of an invocation's sample."""
    return max(1, _SAMPLE // problem.view.per_load)


class _Shape(NamedTuple):
    workgroup: int
    digit: int
    places: int = 0  # of the list in workgroup memory, or 0
    every: int = 1  # One load in so many is a row's sample; or all are, without one.


class SelectDigits(Algorithm):
    """The k-th pair digit by digit, what is up to it, and its order, in one workgroup."""

    name = "select_digits"
    summary = "a threshold by histograms of digits and a small sort in a workgroup; one read or a few"

    def check(self, problem: Problem) -> _Shape:
        source, k = problem.view, problem.k
        if not 1 < k <= _LARGEST_K:
            raise Unserved(f"select_digits takes k from 2 to {_LARGEST_K}, not k={k}")
        if not source.one_axis:
            raise Unserved("select_digits takes elements along one axis")
        self.check_first(problem)
        workgroup = self._workgroup(problem)
        # A sample needs few bins. Of whole rows large digits spare reads.
        fewest = max(_DIGIT, (_FEW_BINS * workgroup).bit_length() - 1)
        digit = max(_DIGIT, min(_LARGEST_DIGIT, (_BINS * workgroup).bit_length() - 1))
        wide, tight = (k + max(k // part, source.per_load) for part in (4, 16))
        every = self._every(problem, workgroup)
        deviation = _deviation(k, every)
        wanted = max(wide, k + int(_ROOM * deviation))
        # The first two are of samples. A list with little to spare takes more digits.
        for bits, least in ((fewest, wanted), (fewest, wide), (digit, wide), (digit, tight), (fewest, tight)):
            places = max(_FEWEST, class_above(least, _LISTS))
            samples = every > 1 and places >= k + _LEAST_ROOM * deviation and problem.length >= 2 * places
            room = (self.memory - (4 << bits) - 8 * workgroup - 256) // held_bytes(problem)
            if places <= min(room, _MOST * workgroup) and (samples or bits == digit or least == tight):
                return _Shape(workgroup, bits, places, every if samples else 1)
        return _Shape(workgroup, digit)

    def samples(self, problem: Problem) -> bool:
        """Does a sample tell the threshold?"""
        return self.serves(problem) is None and self.check(problem).every > 1

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape = self.check(problem)
        if shape.places:
            self._select(program, problem, shape, sink)
            return
        lists = replace(program.pairs(problem.sequences, problem.k), in_order=True)
        self._select(program, problem, shape, lists)
        program.run(lists, problem.sequences, problem.k, sink)

    def _workgroup(self, problem: Problem) -> int:
        """Invocations of a workgroup. Of many rows small ones take less: more are under way."""
        wanted = max(_NARROWEST, power_of_two_above(ceil_div(problem.loads, _LOADS)), power_of_two_above(problem.k // _HELD))
        idle = power_of_two_above(self.occupancy.invocations // problem.sequences)
        wanted = max(wanted, min(idle, power_of_two_above(ceil_div(problem.length, _ITEMS))))
        return min(_WIDEST, self.machine.widest_workgroup, wanted)

    def _every(self, problem: Problem, workgroup: int) -> int:
        """One load in so many is a row's sample. Of short rows, and of few ranks, all are.

        A software adapter takes half a second to compile a sample's search, and gains little.
        """
        if self.machine.software:
            return 1
        every = ceil_div(problem.loads, workgroup * _sampled(problem))
        return every if 2 <= every <= problem.k // _FEWEST_RANKS else 1

    @staticmethod
    def _sample(problem: Problem, every: int) -> _Sample:
        """A rank of the sample up to which some more than k items are."""
        if every == 1:
            return _Sample(1, 0, 0)
        deviation = _deviation(problem.k, every)
        return _Sample(every, ceil_div(problem.k + int(_AIM * deviation), every), int(_SLACK * deviation) // every)

    def _select(self, program: Program, problem: Problem, shape: _Shape, sink: Sink) -> None:
        form, per_load, sample = problem.format, problem.view.per_load, self._sample(problem, shape.every)
        sampled = _sampled(problem) if sample.every > 1 else 0
        program.dispatch(
            "select/digits",
            problem.sequences,
            source=problem.source,
            sink=sink,
            constants={
                "WORKGROUP": shape.workgroup,
                "KTH_DIGIT": shape.digit,
                "SPILLED": int(not shape.places),
                "PLACES": shape.places,
                "LONGEST": shape.places,
                "CARRIED": ceil_div(shape.places, shape.workgroup),
                "SPLITS": int(shape.places > _UNSPLIT),
                "AGAIN": min(self.occupancy.reread_unroll, _UNROLLED // per_load),
                "SAMPLED": sampled,
                "EACH": max(1, sampled * per_load),
            },
            params=asdict(sample)
            | {
                "k": problem.k,
                "least": problem.k,
                "slack": max(0, shape.places - problem.k - per_load),
                "key_bits": 8 * form.bytes,
                "index_bits": max(1, (program.selection.length - 1).bit_length()),
            },
        )
