"""Whole short sequences in workgroup memory, by a bitonic sort. One read."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine import ceil_div, power_of_two_above, power_of_two_below
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Sink
from .base import Algorithm
from .parts import pair_bytes

#: Invocations of a workgroup where a sequence takes no more
#: (benchmarks/LOG.md#small-workgroups-of-the-network-2026-11-23-408852e).
_WORKGROUP = 64


@dataclass(frozen=True)
class RowSortBitonicPolicy:
    """A network over pairs, eight or 16 of them an invocation in registers."""

    #: A sequence has at most this many pairs, and workgroup memory a word of each. A power of two,
    #: 16 to 16384 (benchmarks/LOG.md#radix-sort-in-workgroup-memory-2026-11-21-9889b41).
    max_length: int = 8192


class RowSortBitonic(Algorithm):
    """Sequences of pairs or of elements in any layout."""

    name = "row_sort_bitonic"
    summary = "a bitonic sort of whole short sequences in workgroup memory; one read"
    Policy = RowSortBitonicPolicy
    policy: RowSortBitonicPolicy

    @property
    def capacity(self) -> int:
        """The most pairs that one workgroup sorts: 16 an invocation, moved a word at a time."""
        room = power_of_two_below(self.memory * 16 // 19 // 4)
        return min(16 * self.machine.widest_workgroup, room, self.policy.max_length)

    def check(self, problem: Problem) -> int:
        capacity = max(16, power_of_two_above(problem.length))
        if capacity > self.capacity:
            raise Unserved(f"row_sort_bitonic takes sequences of up to {self.capacity}, not {problem.length}")
        self.check_first(problem)
        return capacity

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        capacity = self.check(problem)
        items = 8 if capacity // 8 <= min(512, self.machine.max_compute_invocations_per_workgroup) else 16
        team = capacity // items
        workgroup = max(team, _WORKGROUP)
        program.dispatch(
            "row_sort/bitonic",
            ceil_div(problem.sequences, workgroup // team),
            source=problem.source,
            sink=sink,
            constants={
                "WORKGROUP": workgroup,
                "ITEMS_PER_THREAD": items,
                "ITEM_BITS": items.bit_length() - 1,
                "HALF": items // 2,
                "SPLIT": int(workgroup * (items + 1) * pair_bytes(problem.key_words) > self.memory),
            },
            params={"k": problem.k, "size_bits": capacity.bit_length() - 1},
        )
