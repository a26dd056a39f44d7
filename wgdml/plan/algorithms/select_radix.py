"""Delegates of a workgroup, the k-th by a radix select, and a small sort. One read and a little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..machine import Machine, ceil_div, power_of_two_above
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Outputs, Sink
from .base import Algorithm
from .parts import class_above, pair_bytes, threshold_workgroup
from .sorters import PairSorter

_LARGEST_K = 2048  # whose list of 2 k pairs, and the rest, workgroup memory has room for
_LARGEST_SPILLED_K = 8192  # whose list is in scratch
#: The order of up to so many pairs takes no longer than a cut to exactly k
#: (benchmarks/LOG.md#any-order-2026-11-24-2e2e6b7).
_ORDERED = 1024
_SMALLEST_LIST = 64  # half of its places
_EACH = 32  # pairs of an invocation, at most, among which a threshold is looked for
_OWN_SIZES = 4  # of an invocation's subsets from one power of two to the next
_DIGIT = 8  # bits of a digit, at least
_FILL = 32  # loads of an invocation at least where sequences are too few to fill the machine


@dataclass(frozen=True)
class SelectRadixPolicy:
    """A workgroup a row, whose list of survivors stays in its memory."""

    #: An invocation has up to this many subsets, twice as many where half are read again. 1 to 16
    #: (benchmarks/LOG.md#delegates-in-registers-for-k-from-32-on-2026-11-22-be6a969).
    subsets: int = 8
    #: Up to this many subsets for each of the k have second keys, which cost every load. 0 on
    #: (benchmarks/LOG.md#second-keys-of-rows-2026-11-22-f0f71f6).
    second_keys: int = 16
    #: A workgroup has at least this many invocations. 32 to 1024
    #: (benchmarks/LOG.md#delegates-in-registers-for-k-from-32-on-2026-11-22-be6a969).
    min_workgroup: int = 64
    #: Each of the k has this many invocations. 0.1 to 4 (the same figures).
    threads_per_rank: float = 2 / 3
    #: Histograms pay from this k on. Below it counting takes less. 2 to 2048 (the same figures).
    min_k: int = 96
    #: They pay from this k on where workgroups share a processor. 2 to 2048 (the same figures).
    min_k_many: int = 32


def _chosen(capacity: int) -> int:
    """The most subsets that are read again: k and a sixteenth, of a list of 2 k pairs or more."""
    return capacity // 2 * 17 // 16


@dataclass(frozen=True)
class _Shape:
    workgroup: int
    own: int  # Subsets of an invocation.
    capacity: int  # Survivors that the list has room for.
    sorts: int  # Survivors that can be sorted.
    longest: int  # Survivors that are sorted as they are.
    spilled: bool  # The list is in scratch, and sorted by another dispatch.


class SelectRadix(Algorithm):
    """A workgroup a sequence, which is read once and a little."""

    name = "select_radix"
    summary = "delegates, threshold by a radix select and a small sort in a workgroup; one read and a little"
    Policy = SelectRadixPolicy
    policy: SelectRadixPolicy

    def __init__(self, machine: Machine, policies: Mapping[str, Any]) -> None:
        super().__init__(machine, policies)
        self.sorter = PairSorter(machine, policies)

    def max_k(self, key_words: int, *, spilled: bool = False) -> int:
        """The largest k whose list, and some more than k subsets' numbers, memory has room for.

        ``spilled``: the list is in scratch.
        """
        k, pair = (_LARGEST_SPILLED_K, 0) if spilled else (_LARGEST_K, pair_bytes(key_words))
        while 2 * k * pair + 5 * k + (4 << _DIGIT) + 8 * self.machine.workgroup + 256 > self.memory:
            k //= 2
        return k

    def prefers(self, problem: Problem) -> bool:
        """Is k so large that counting, whose work grows with its square, is slower?"""
        p = self.policy
        smallest = p.min_k_many if problem.sequences > self.occupancy.workgroups // 20 else p.min_k
        return not problem.pairs and not problem.columns and problem.k >= smallest

    def spares(self, problem: Problem, sorts: bool) -> bool:
        """Would at most three quarters be read again? Else a sort in registers is as fast."""
        loads, k = problem.loads, problem.k
        return 3 * loads >= 4 * k or (not sorts and loads > k and problem.length > 4 * k)

    def check(self, problem: Problem) -> _Shape:
        source, k, m = problem.view, problem.k, self.machine
        most = self.max_k(problem.key_words, spilled=True)
        if k > most:
            raise Unserved(f"select_radix takes k up to {most} here, not k={k}")
        self.check_first(problem)
        spilled = k > self.max_k(problem.key_words)
        workgroup = min(threshold_workgroup(m, problem.key_words), self._wanted(problem))
        longest = 2 * power_of_two_above(max(k, _SMALLEST_LIST))
        listed = 0 if spilled else longest
        while workgroup > self.policy.min_workgroup and self._room(workgroup, longest, problem.key_words) < listed:
            workgroup //= 2
        if longest > _EACH * workgroup:
            raise Unserved(f"select_radix takes k up to {_EACH * workgroup // 2} by {workgroup} invocations, not k={k}")
        # In sorted data, whole loads; but where workgroups share a processor, smaller ones.
        few = not spilled and problem.sequences * workgroup <= self.occupancy.invocations
        whole = min(4, source.per_load) * longest // 2 if few else 0
        fits = whole <= min(self._room(workgroup, longest, problem.key_words), _EACH * workgroup)
        loads = source.most_loads
        # Where half of the subsets would be read again, twice as many.
        subsets = self.policy.subsets * (2 if 4 * k > self.policy.subsets * workgroup else 1)
        own = class_above(min(subsets, ceil_div(loads, workgroup)), _OWN_SIZES)
        fewest = min(source.loads, own * workgroup)  # with loads, if the sequence begins with one
        if k > fewest:
            raise Unserved(f"select_radix takes k up to {fewest} of {source.length} items here, not k={k}")
        capacity = max(longest, whole if fits else 0)
        return _Shape(workgroup, own, capacity, longest, k if spilled else longest, spilled)

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
            team = max(team, min(m.workgroup, power_of_two_above(2 * k)))
        return max(team, min(power_of_two_above(invocations // sequences), power_of_two_above(loads // _FILL)))

    def _room(self, workgroup: int, capacity: int, key_words: int) -> int:
        """Pairs that workgroup memory has room for, beside the numbers of chosen subsets."""
        counters = (4 << self._digit(workgroup)) + 8 * workgroup
        return (self.memory - 256 - counters - 4 * _chosen(capacity)) // pair_bytes(key_words)

    @staticmethod
    def _digit(workgroup: int) -> int:
        return max(_DIGIT, workgroup.bit_length() - 1)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        shape = self.check(problem)
        if problem.k > _ORDERED and not program.selection.sorted and isinstance(sink, Outputs):
            shape = replace(shape, longest=problem.k)
        if not shape.spilled:
            self._select(program, problem, shape, sink)
            return
        lists = program.pairs(problem.sequences, shape.capacity)
        self._select(program, problem, shape, lists)
        self.sorter.build(program, replace(problem, source=replace(lists, length=problem.k)), sink)

    def _select(self, program: Program, problem: Problem, shape: _Shape, sink: Sink) -> None:
        k, subsets = problem.k, shape.own * shape.workgroup
        members = ceil_div(problem.loads, subsets)
        again = ceil_div(k * power_of_two_above(members), shape.workgroup)  # loads of an invocation
        # Second keys cost every load something, and spare reading most of the chosen subsets again.
        second_keys = members > 2 and subsets <= self.policy.second_keys * k
        program.dispatch(
            "select/radix",
            problem.sequences,
            source=problem.source,
            sink=sink,
            constants={
                "WORKGROUP": shape.workgroup,
                "OWN": shape.own,
                "SECONDS": int(second_keys),
                "SPILLED": int(shape.spilled),
                "CUT": int(shape.longest == k),
                "EACH": max(shape.own, ceil_div(shape.capacity, shape.workgroup)),
                "PLACES": shape.capacity,
                "LONGEST": shape.sorts,
                "ROOM": _chosen(shape.sorts),
                "AGAIN": self.occupancy.reread_unroll if again > 1 else 1,
                "KTH_DIGIT": self._digit(shape.workgroup),
                "IN_ORDER": 1,
            },
            params={
                "k": k,
                "slack": k // 16,
                "longest": shape.longest,
                "subsets": subsets,
                "members": members,
            },
        )
