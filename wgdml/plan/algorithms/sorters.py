"""Which sorts an algorithm or the planner takes where it sorts as one of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..machine import Machine
from ..occupancy import OccupancyPolicy
from ..problem import Problem
from ..program import Program
from ..regions import Outputs, Pairs, Sink
from .radix_passes import RadixPasses
from .radix_sort import RadixSort
from .row_sort_bitonic import RowSortBitonic
from .row_sort_buckets import RowSortBuckets
from .row_sort_rank import RowSortRank
from .serial_radix_sort import SerialRadixSort


def radix_sort_of(machine: Machine, policies: Mapping[str, Any]) -> RadixPasses:
    return (SerialRadixSort if machine.software else RadixSort)(machine, policies)


class PairSorter:
    """The k pairs of each sequence in order: by counting, buckets, a network or a radix sort."""

    def __init__(self, machine: Machine, policies: Mapping[str, Any]) -> None:
        self.occupancy: OccupancyPolicy = policies.get("occupancy") or OccupancyPolicy()
        self.rank = RowSortRank(machine, policies)
        self.bitonic = RowSortBitonic(machine, policies)
        self.buckets = RowSortBuckets(machine, policies)
        self.radix_sort = radix_sort_of(machine, policies)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        length, sequences, source = problem.length, problem.sequences, problem.source
        if not program.selection.sorted and isinstance(sink, Outputs) and isinstance(source, Pairs):
            program.emit(source, sequences, length, [sink], length)
            return
        # Counting may take longer than one dispatch of a bitonic sort where a radix sort has many.
        work = self.rank.policy.max_work * (1 if length <= self.bitonic.capacity else 4)
        few = sequences * 4 <= self.occupancy.workgroups and sequences * length**2 <= work
        if few and length <= self.rank.policy.max_length:
            self.rank.build(program, problem, sink)
        elif self.buckets.prefers(problem) and self.buckets.serves(problem) is None:
            self.buckets.build(program, problem, sink)
        elif length <= self.bitonic.capacity:
            self.bitonic.build(program, problem, sink)
        else:
            self.radix_sort.build(program, problem, sink)
