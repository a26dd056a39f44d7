"""Top-k on machines that run few invocations: small kernels without barriers compile quickly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..machine import Machine, ceil_div, power_of_two_below
from ..policy import number
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Pairs, Region, Sink, Source, View
from .base import Algorithm
from .serial_radix_sort import SerialRadixSort
from .serial_subsets import Subsets, dispatch_invocations, place_by_counting, reduce_subsets, words_of

_ITERATIONS = 64_000  # of all loops of an invocation; lavapipe ends them after 65,535
_LIST_LOADS = 4  # of one item, that a sorted list looks at together
_LANES = 32  # invocations that keep a few processors at work

#: Longest sequence of which all items are placed by counting, where three quarters are wanted.
_RANKED = 256
#: Fewest delegates of a sequence, and fewest items for each that is wanted, or a threshold of all
#: takes less, as its list is in order
#: (benchmarks/LOG.md#few-items-for-each-of-the-k-2026-11-28-d0755d1).
_DELEGATES, _FEW = 32, 28
#: Longest list that is placed by counting in any case, and most comparisons for longer ones.
_RANKED_LIST, _COMPARISONS = 600, 4 << 20
#: Sorted lists in registers, one an invocation: longest row and column, and fewest sequences, which
#: run together (benchmarks/LOG.md#lists-on-software-adapters-2026-11-28-46343b0).
_LIST_ROW, _LIST_COLUMN, _LIST_SEQUENCES = 4096, 1024, 8
#: Each list of so many is a kernel, for so many items in all at least (the same figures).
_LISTS = {8: 1 << 15, 16: 1 << 16, 32: 1 << 17, 64: 1 << 17}
#: Comparisons that hostile data may cost before lists are cut by a second threshold.
_HOSTILE = 1 << 20


@dataclass(frozen=True)
class SerialSelectPolicy:
    """Subsets, thresholds and lists. Figures of all:
    benchmarks/LOG.md#small-kernels-without-barriers-2026-11-23-27c0d6c.
    """

    #: The square of k is at most this times the bytes of a sequence. From there on two reads take
    #: less (benchmarks/LOG.md#bounds-of-a-sample-on-software-adapters-2026-11-28-158dbaf).
    counted: float = number(2.5, 0.25, 256.0)
    #: Delegates are this often the root of length and k: each costs every round of the search, and
    #: fewer leave more to read again.
    reach: float = number(0.45, 0.1, 4.0)
    #: This many invocations read a subset again.
    slices: int = number(8, 1, 64, powers=True)
    #: Sorted lists in registers, one an invocation, serve k up to this
    #: (benchmarks/LOG.md#lists-on-software-adapters-2026-11-28-46343b0).
    list_k: int = number(32, 1, 64)


@dataclass(frozen=True)
class _Chosen:
    """Pairs of each sequence, the first k among them, in any order."""

    pairs: Pairs
    counts: Region  # How many of each sequence.
    list_counts: Region  # Zeros, for the list that comes of chosen subsets.
    thresholds: Region
    numbered: bool  # Delegates are told by their numbers, not by their indices.


def _enough(k: int) -> int:
    """A threshold need not be the k-th pair: what is a little later is found in fewer rounds."""
    return k + 4 + min(64, k // 8)


class SerialSelect(Algorithm):
    """The best of each subset, a threshold among those, what comes before it, and that in order."""

    name = "serial_select"
    summary = "delegates, a threshold among them, what comes before it, placed by counting; a dispatch each"
    Policy = SerialSelectPolicy
    policy: SerialSelectPolicy

    def __init__(self, machine: Machine, policies: Mapping[str, Any]) -> None:
        super().__init__(machine, policies)
        self.radix_sort = SerialRadixSort(machine, policies)

    def check(self, problem: Problem) -> None:
        self.check_first(problem)
        if problem.length > _RANKED and 2 * _enough(problem.k) > self._segment(problem):
            raise Unserved(f"serial_select finds up to {self._segment(problem) // 2} pairs with a few to spare, not k={problem.k}")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        self.check(problem)
        source, sequences, k = problem.source, problem.sequences, problem.k
        if self.lists(problem):
            self._list(program, problem, sink)
            return
        if self.ranks(problem):
            place_by_counting(program, source, sequences, k, sink)
            return
        subsets = self._subsets(problem)
        if subsets is None:
            chosen = self._choose(program, problem, source)
        else:
            delegates = program.pairs(sequences, subsets.count, side_by_side=sequences >= 8)
            reduce_subsets(program, source, sequences, delegates, subsets)
            chosen = self._choose(program, problem, delegates, numbered=not problem.one_axis)
            chosen = self._filter(program, problem, subsets, chosen)
            # Hostile data fill a list with far more than k.
            longest = chosen.pairs.length
            if sequences * longest**2 > _HOSTILE and longest > 2 * _enough(k):
                chosen = self._choose(program, problem, chosen.pairs, chosen.counts)
        length, listed = chosen.pairs.length, replace(chosen.pairs, counts=chosen.counts)
        if length <= _RANKED_LIST or sequences * length**2 <= _COMPARISONS:
            place_by_counting(program, listed, sequences, k, sink)
        else:
            self.radix_sort.build(program, replace(problem, source=listed), sink)

    @staticmethod
    def ranks(problem: Problem) -> bool:
        """Are so few of a short sequence left out that all are placed by counting?"""
        longest = _RANKED_LIST if problem.pairs else _RANKED
        return problem.length <= longest and 4 * problem.k >= 3 * problem.length

    def lists(self, problem: Problem) -> bool:
        """Do sorted lists in registers take less than thresholds, and are they worth compiling?"""
        source, k, length, sequences = problem.source, problem.k, problem.length, problem.sequences
        # Items of long columns lie in a page each. Narrow keys' places have 16 bits.
        longest = _LIST_ROW if source.rows else _LIST_COLUMN if source.columns else 0
        short = length <= longest and sequences >= _LIST_SEQUENCES and isinstance(source, View)
        return short and k <= self.policy.list_k and sequences * length >= _LISTS[self._places(k)]

    @staticmethod
    def _places(k: int) -> int:
        return next(places for places in _LISTS if places >= k)

    def _list(self, program: Program, problem: Problem, sink: Sink) -> None:
        """The first k of each sequence by one invocation."""
        source, sequences, k = problem.source, problem.sequences, problem.k
        whole = Subsets.of(source, 1, apart=False)
        # A place more takes what is beyond k.
        ordered = program.pairs(sequences, k + 1)
        dispatch_invocations(
            program,
            "serial/lists",
            sequences,
            source=source,
            sink=ordered,
            constants=whole.constants(source)
            | {
                "K": self._places(k),
                "LOADS": 1 if whole.per_load > 1 else _LIST_LOADS,
                "NARROW_KEYS": int(problem.format.bytes < 4),
            },
            params={"k": k, "least": k},
            workgroup=16,
        )
        program.emit(ordered, sequences, k, [sink], k)

    def _segment(self, problem: Problem) -> int:
        """The most items that an invocation chooses from, up to half of them.

        It has a round for each four bits, one that writes, and fills places that are left.
        """
        index_bits = 32 if isinstance(problem.source, Pairs) else problem.view.selection.index_bits
        return _ITERATIONS // (2 * problem.format.bytes + ceil_div(index_bits, 4) + 2)

    def _subsets(self, problem: Problem) -> Subsets | None:
        """A delegate costs each round of the search; few delegates cost more loads read again."""
        enough, longest = _enough(problem.k), self._segment(problem)
        fewest = max(_DELEGATES, 5 * enough // 2)
        if max(_FEW * enough, 3 * fewest) > problem.length:
            return None
        count = max(fewest, min(longest, int(self.policy.reach * math.sqrt(problem.length * enough))))
        subsets = Subsets.of(problem.source, count)
        if not problem.one_axis and subsets.count > longest:
            return Subsets.of(problem.source, longest, apart=False)
        return subsets

    def _choose(
        self, program: Program, problem: Problem, source: Source, counts: Region | None = None, numbered: bool = False
    ) -> _Chosen:
        """The first k and a few more, in any order. Of many items, those of segments first."""
        sequences, size, enough = problem.sequences, self._segment(problem), _enough(problem.k)
        if sequences < _LANES and not numbered:
            size = min(size, max(4 * enough, ceil_div(source.length * sequences, _LANES), 512))
        chosen_counts, list_counts = program.words(sequences), program.words(sequences)
        thresholds = program.words(sequences * 2 * problem.key_words)
        none = program.words(1)
        segments = 0
        while segments != 1:
            by_words = words_of(source)
            per_load = by_words.get("PER_LOAD", 1)
            # To find an element by several axes is a loop of its own.
            most = size // (len(source.selection.axes) + 2) if isinstance(source, View) and not source.one_axis else size
            segments = ceil_div(source.length + per_load - 1, most)
            places = min(enough, source.length) + 1
            listed = program.pairs(sequences, segments * places)
            dispatch_invocations(
                program,
                "serial/threshold",
                sequences * segments,
                source=source,
                sink=listed,
                bind={
                    "counts": counts or none,
                    "chosen_counts": chosen_counts,
                    "list_counts": list_counts,
                    "thresholds": thresholds,
                },
                constants=by_words,
                params={
                    "k": problem.k,
                    "slack": enough - problem.k,
                    "counted": int(counts is not None),
                    "numbered": int(numbered),
                    "segment": ceil_div(most, per_load),
                    "segments": segments,
                    "places": places,
                },
                workgroup=16,
            )
            # What a segment has no item for lies amid the list of several.
            listed = replace(listed, in_order=segments == 1 and program.in_order(source))
            source, counts = listed, None
        return _Chosen(replace(listed, length=places - 1), chosen_counts, list_counts, thresholds, numbered)

    def _filter(self, program: Program, problem: Problem, subsets: Subsets, chosen: _Chosen) -> _Chosen:
        """What comes before the threshold. All of the chosen subsets' items have places."""
        number = chosen.pairs.length
        listed = program.pairs(problem.sequences, min(problem.length, number * subsets.most_items))
        slices = min(self.policy.slices, power_of_two_below(subsets.members))
        dispatch_invocations(
            program,
            "serial/filter",
            problem.sequences * number * slices,
            source=problem.source,
            sink=listed,
            bind={
                "chosen": chosen.pairs.indices,
                "chosen_counts": chosen.counts,
                "list_counts": chosen.list_counts,
                "thresholds": chosen.thresholds,
            },
            constants=subsets.constants(problem.source),
            params=subsets.params(problem.source, problem.sequences)
            | {"chosen": number, "slices": slices, "numbered": int(chosen.numbered)},
        )
        return replace(chosen, pairs=listed, counts=chosen.list_counts)
