"""Delegates of a workgroup, the k-th by a radix select, and a small sort. One read and a little."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ..machine import ceil_div, power_of_two_above
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Outputs, Sink, View
from .base import Algorithm
from .parts import bins_of, class_above, held_bytes, threshold_workgroup

_LARGEST_K = 8192
#: The order of up to so many pairs takes no longer than a cut to exactly k
#: (benchmarks/LOG.md#any-order-2026-11-24-2e2e6b7).
_ORDERED = 1024
_SMALLEST_CLASS = 64  # of k
_NARROWED = 257  # items of a row whose loads may be narrowed
_CLASSES = 2  # of k from one power of two to the next: each is a kernel
_LARGE_K = 1024  # from which on there are twice as many classes, as workgroup memory ends there
#: Places of a list for each of the k: of random data it has some 1.2 k pairs. What more one
#: workgroup takes, others of its processor lack
#: (benchmarks/LOG.md#what-workgroups-of-a-processor-share-2026-11-25-a6c9897).
_PLACES = 1.375
_EACH = 32  # pairs of an invocation, at most, among which a threshold is looked for
_HELD = 16  # of a list in workgroup memory
_OWN_SIZES = 4  # of an invocation's subsets from one power of two to the next
_DIGIT = 8  # bits of a digit, at least
#: Invocations, at most, where each workgroup has a processor to itself: twice as many take longer
#: (benchmarks/LOG.md#edges-of-rows-and-wider-workgroups-2026-11-25-35e3d49).
_WIDE = 512
_FILL = 64  # loads of an invocation at least where sequences are too few to fill the machine


@dataclass(frozen=True)
class SelectRadixPolicy:
    """A workgroup a row, whose list of survivors stays in its memory."""

    #: An invocation has up to this many subsets, twice as many where half are read again
    #: (benchmarks/LOG.md#delegates-in-registers-for-k-from-32-on-2026-11-22-be6a969).
    subsets: int = number(8, 1, 16)
    #: Up to this many subsets for each of the k have second keys, which cost every load
    #: (benchmarks/LOG.md#second-keys-of-rows-2026-11-22-f0f71f6).
    second_keys: int = number(16, 0, 1 << 12)
    #: A workgroup has at least this many invocations
    #: (benchmarks/LOG.md#delegates-in-registers-for-k-from-32-on-2026-11-22-be6a969).
    min_workgroup: int = number(64, 32, 1024, powers=True)
    #: Each of the k has this many invocations (the same figures).
    threads_per_rank: float = number(2 / 3, 0.1, 4.0)
    #: Histograms pay from this k on. Below it counting takes less (the same figures).
    min_k: int = number(64, 2, 2048)
    #: They pay from this k on where workgroups share a processor (the same figures).
    min_k_many: int = number(32, 2, 2048)


class _List(NamedTuple):
    """Where survivors go."""

    workgroup: int
    places: int
    chosen: int  # The most subsets that are read again: k and a sixteenth.
    spilled: bool = False  # It is in scratch, cut to k pairs, and sorted by another dispatch.


@dataclass(frozen=True)
class _Shape:
    list: _List
    own: int  # Subsets of an invocation.
    capacity: int  # Survivors that the list has room for.
    longest: int  # Survivors that are sorted as they are.


class SelectRadix(Algorithm[SelectRadixPolicy]):
    """A workgroup a sequence, which is read once and a little."""

    name = "select_radix"
    summary = "delegates, threshold by a radix select and a small sort in a workgroup; one read and a little"

    def max_k(self, pair: int) -> int:
        """The largest k for whose list of pairs of so many bytes workgroup memory has room."""
        classes = (size << octave for octave in range(13)[::-1] for size in (7, 6, 5, 4))
        return next(k for k in classes if k <= _LARGEST_K and self._list_in(k, self.machine.widest_workgroup, pair))

    def prefers(self, problem: Problem) -> bool:
        """Is k so large that counting, whose work grows with its square, is slower?"""
        p = self.policy
        smallest = p.min_k_many if problem.sequences > self.occupancy.workgroups // 20 else p.min_k
        return not problem.pairs and not problem.columns and problem.k >= smallest

    @staticmethod
    def narrowed(problem: Problem) -> Problem:
        """With loads of a word where wide ones are so few that most would be read again."""
        source, k = problem.source, problem.k
        if not isinstance(source, View) or 3 * source.most_loads >= 4 * k or problem.length < max(_NARROWED, 4 * k):
            return problem
        return replace(problem, source=replace(source, vectors=False))

    def spares(self, problem: Problem, sorts: bool) -> bool:
        """Would at most three quarters be read again? ``sorts``: a fast sort may serve."""
        k, length = problem.k, problem.length
        if sorts and (12 if problem.format.bytes == 1 else 5) * k > length:
            return False  # of 8 bits in one pass
        if not sorts or problem.format.bytes != 2:
            problem = self.narrowed(problem)
        loads = problem.loads
        return 3 * loads >= 4 * k or (not sorts and loads > k and length > 4 * k)

    def check(self, problem: Problem) -> _Shape:
        source, k = self.narrowed(problem).view, problem.k
        self.require(k <= _LARGEST_K, f"takes k up to {_LARGEST_K}, not k={k}")
        self.check_first(problem)
        survivors = self._list(problem)
        workgroup, places, _, spilled = survivors
        self.require(places <= _EACH * workgroup, f"takes k up to {_EACH * workgroup // 2} by {workgroup} invocations, not k={k}")
        # In sorted data, whole loads; but where workgroups share a processor, smaller ones.
        few = not spilled and problem.sequences * workgroup <= self.occupancy.invocations
        whole = min(4, source.per_load) * places // 2 if few else 0
        fits = whole <= min(self._room(workgroup, survivors.chosen, held_bytes(problem)), _EACH * workgroup)
        loads = source.most_loads
        # Where half of the subsets would be read again, twice as many.
        subsets = self.policy.subsets * (2 if 4 * k > self.policy.subsets * workgroup else 1)
        own = class_above(min(subsets, ceil_div(loads, workgroup)), _OWN_SIZES)
        fewest = min(source.loads, own * workgroup)  # with loads, if the sequence begins with one
        self.require(k <= fewest, f"takes k up to {fewest} of {source.length} items here, not k={k}")
        return _Shape(survivors, own, max(places, whole if fits else 0), k if spilled else places)

    def _list(self, problem: Problem) -> _List:
        """In workgroup memory where it has room, by fewer invocations if need be; else scratch."""
        k, pair = problem.k, held_bytes(problem)
        workgroup = min(threshold_workgroup(self.machine, problem.key_words), self._wanted(problem))
        smallest = min(workgroup, self.policy.min_workgroup)
        found = self._list_in(k, workgroup, pair)
        if found is not None:
            return found
        k = power_of_two_above(k)
        while workgroup > smallest and self._room(workgroup, k * 17 // 16, pair) < 0:
            workgroup //= 2
        fits = self._room(workgroup, k * 17 // 16, pair) >= 0
        self.require(fits, f"takes k whose subsets' numbers fit this adapter's workgroup memory, not k={problem.k}")
        return _List(workgroup, 2 * k, k * 17 // 16, True)

    def _list_in(self, k: int, workgroup: int, pair: int) -> _List | None:
        """A list in the memory of a workgroup of so many invocations, or of fewer."""
        # Wide workgroups are few in a processor, whose memory serves larger lists: fewer kernels.
        fewest = workgroup // 2 if workgroup >= _WIDE else _SMALLEST_CLASS
        size = class_above(max(k, fewest), _CLASSES if k <= _LARGE_K else 2 * _CLASSES)
        chosen, listed, threads = size * 17 // 16, int(size * _PLACES), workgroup
        while listed <= _HELD * threads:
            if self._room(threads, chosen, pair) >= listed:
                return _List(threads, listed, chosen)
            threads //= 2
        return None

    def _wanted(self, problem: Problem) -> int:
        """Invocations of a workgroup, where it has memory for them."""
        p, m = self.policy, self.machine
        k, sequences, loads = problem.k, problem.sequences, problem.loads
        invocations = self.occupancy.invocations
        team = max(
            min(p.min_workgroup, m.workgroup),
            min(power_of_two_above(int(p.threads_per_rank * k)), power_of_two_above(loads // 4)),
        )
        if sequences * team <= invocations // 8:
            # One for each pair of the list.
            team = max(team, min(_WIDE, m.widest_workgroup, power_of_two_above(2 * k)))
        return max(team, min(power_of_two_above(invocations // sequences), power_of_two_above(loads // _FILL)))

    def _room(self, workgroup: int, chosen: int, pair: int) -> int:
        """Pairs that workgroup memory has room for, beside the numbers of chosen subsets."""
        counters = (4 << self._digit(workgroup)) + 8 * workgroup
        return (self.memory - 256 - counters - 4 * chosen) // pair

    @staticmethod
    def _digit(workgroup: int) -> int:
        return max(_DIGIT, workgroup.bit_length() - 1)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape, problem = self.check(problem), self.narrowed(problem)
        if problem.k > _ORDERED and not program.selection.sorted and isinstance(sink, Outputs):
            shape = replace(shape, longest=problem.k)
        if not shape.list.spilled:
            self._select(program, problem, shape, sink)
            return
        lists = program.pairs(problem.sequences, shape.capacity)
        self._select(program, problem, shape, lists)
        program.run(replace(lists, length=problem.k), problem.sequences, problem.k, sink)

    def _select(self, program: Program, problem: Problem, shape: _Shape, sink: Sink) -> None:
        (workgroup, places, chosen, spilled), k = shape.list, problem.k
        subsets = shape.own * workgroup
        members = ceil_div(problem.loads, subsets)
        again = ceil_div(k * power_of_two_above(members), workgroup)  # loads of an invocation
        # Second keys cost every load something, and spare reading most of the chosen subsets again.
        second_keys = members > 2 and subsets <= self.policy.second_keys * k
        program.dispatch(
            "select/radix",
            problem.sequences,
            source=problem.source,
            sink=sink,
            constants={
                "WORKGROUP": workgroup,
                "OWN": shape.own,
                "SECONDS": int(second_keys),
                "SPILLED": int(spilled),
                "CUT": int(shape.longest == k),
                "EACH": max(shape.own, ceil_div(shape.capacity, workgroup)),
                "PLACES": shape.capacity,
                "CARRIED": ceil_div(places, workgroup),
                "ROOM": chosen,
                # Four loads under way, of which an invocation has one, take 1.05 times as long
                # (benchmarks/LOG.md#loads-read-again-2026-11-29-2e4e8ce).
                **({"AGAIN": 1} if again == 1 else {}),
                **bins_of(self._digit(workgroup), workgroup),
                "IN_ORDER": 1,
            },
            params={
                "k": k,
                # Each of the first k may have a load of its own.
                "least": k * problem.view.per_load,
                "slack": k // 16,
                "longest": shape.longest,
                "subsets": subsets,
                "members": members,
            },
        )
