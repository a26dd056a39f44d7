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
_DIGIT = 11  # bits of a digit, at most
_EACH = 8  # bins of an invocation, at most
_NARROWEST, _WIDEST = 64, 512  # invocations
_ITEMS = 32  # that an invocation counts, about
_FEWEST = 64  # places of a list, at least
_LISTS = 4  # sizes of a list from one power of two to the next
_HELD = 8  # of the k for each invocation, where a workgroup may have so many
_MOST = 16  # pairs of a list that an invocation sorts, at most
_UNSPLIT = 2048  # places of a list whose buckets are not split
_UNROLL = 4  # loads under way at once, of up to four items each
_SAMPLED = 16  # items of an invocation's sample, about
_LEAST_EVERY = 4  # One load in as many is a row's sample, or in more.
_FEWEST_RANKS = 16  # of a sample up to the threshold, or it tells too little
#: Standard deviations of how many items are up to a sample's threshold that a list has room for, as
#: is wished, and at least. Half as many serve where the sample aims at the middle.
_DEVIATIONS = (8.0, 4.0)


@dataclass(frozen=True)
class _Sample:
    every: int  # One load in so many, or 1.
    sample_rank: int
    sample_slack: int


def _deviation(k: int, every: int) -> float:
    """Of how many items are up to what has k items up to it by a sample."""
    return float((k * every) ** 0.5)


class _Shape(NamedTuple):
    workgroup: int
    digit: int
    places: int  # of the list in workgroup memory, or 0


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
        wanted = power_of_two_above(ceil_div(source.length, _ITEMS))
        wanted = max(_NARROWEST, wanted, power_of_two_above(ceil_div(k, _HELD)))
        workgroup = min(_WIDEST, self.machine.widest_workgroup, wanted)
        digit = min(_DIGIT, (_EACH * workgroup).bit_length() - 1)
        fewest = max(digit - 2, workgroup.bit_length() - 1)
        wide, tight = k * 5 // 4, k * 17 // 16
        every = self._every(problem, workgroup)
        sampled = k + int(_DEVIATIONS[0] * _deviation(k, every)) if every > 1 else wide
        # A list with little to spare takes digits more, and so do narrow ones.
        for bits, least in ((digit, max(wide, sampled)), (digit, wide), (digit, tight), (fewest, tight)):
            places = max(_FEWEST, class_above(least, _LISTS))
            room = (self.memory - (4 << bits) - 8 * workgroup - 256) // held_bytes(problem)
            if places <= min(room, _MOST * workgroup):
                return _Shape(workgroup, bits, places)
        return _Shape(workgroup, digit, 0)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape = self.check(problem)
        if shape.places:
            self._select(program, problem, shape, sink)
            return
        lists = replace(program.pairs(problem.sequences, problem.k), in_order=True)
        self._select(program, problem, shape, lists)
        program.run(lists, problem.sequences, problem.k, sink)

    @staticmethod
    def _every(problem: Problem, workgroup: int) -> int:
        """One load in so many is a row's sample. Of short rows, and of few ranks, all are."""
        sampled = workgroup * max(1, _SAMPLED // problem.view.per_load)
        every = max(_LEAST_EVERY, problem.loads // sampled)
        return every if problem.loads >= 2 * sampled and problem.k >= _FEWEST_RANKS * every else 1

    def _sample(self, problem: Problem, shape: _Shape) -> _Sample:
        """A rank of the sample up to which some k items and half of the room are."""
        every, room = self._every(problem, shape.workgroup), shape.places - problem.k
        if every == 1 or room < _DEVIATIONS[1] * _deviation(problem.k, every):
            return _Sample(1, 0, 0)
        # The bin that ends the search has some items more.
        return _Sample(every, ceil_div(8 * problem.k + 3 * room, 8 * every), room // (4 * every))

    def _select(self, program: Program, problem: Problem, shape: _Shape, sink: Sink) -> None:
        form = problem.format
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
                "AGAIN": _UNROLL if problem.view.per_load <= 4 else 2,
            },
            params=asdict(self._sample(problem, shape))
            | {
                "k": problem.k,
                "least": problem.k,
                "slack": max(0, shape.places - problem.k),
                "key_bits": 8 * form.bytes,
                "index_bits": max(1, (program.selection.length - 1).bit_length()),
            },
        )
