"""Short columns: a sorted list of k pairs an invocation, in registers. One read and a little."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine import ceil_div, power_of_two_below
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Sink, View
from .base import Algorithm
from .parts import class_above, pair_bytes

_LIST_SIZES = 4  # of lists from one power of two to the next
_WORKGROUPS = (8, 64, 256)  # invocations
_UNROLL = 4  # loads under way at once


@dataclass(frozen=True)
class SelectListsPolicy:
    """Many short columns of keys that no network takes."""

    #: Lists serve k up to this: a list fills registers, and insertions take as long
    #: (benchmarks/LOG.md#networks-down-columns-2026-11-29-81d1122).
    max_k: int = number(8, 1, 64)
    #: Lists pay from this many columns on
    #: (benchmarks/LOG.md#short-columns-without-a-copy-2026-11-25-53872eb).
    min_sequences: int = number(8192, 1, 1 << 24)
    #: Lists serve columns of up to this many items (the same figures).
    max_length: int = number(256, 4, 1 << 16)


class SelectLists(Algorithm[SelectListsPolicy]):
    """As many invocations a column as fill the machine, whose lists are merged at the end."""

    name = "select_lists"
    summary = "a sorted list of k pairs of a column an invocation, in registers; one read and a little"

    def check(self, problem: Problem) -> View:
        self.require(problem.k <= self.policy.max_k, f"takes k up to {self.policy.max_k}, not k={problem.k}")
        self.require(problem.columns, "takes columns, which lie side by side along one axis")
        self.check_first(problem)
        return problem.view

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        o, m = self.occupancy, self.machine
        source, sequences = self.check(problem), problem.sequences
        k = max(2, class_above(problem.k, _LIST_SIZES))
        team = min(16, power_of_two_below(o.workgroups * 64 // sequences), power_of_two_below(source.length // 4))
        # A group of loads is looked at again where its best is kept, so groups must be many.
        unroll = max(1, min(_UNROLL, power_of_two_below(source.length // (4 * k * team))))
        room = self.memory // (k * pair_bytes(problem.key_words)) if team > 1 else m.workgroup
        workgroup = max(size for size in _WORKGROUPS if size <= max(_WORKGROUPS[0], min(room, m.workgroup)))
        program.dispatch(
            "select/lists",
            ceil_div(sequences * team, workgroup),
            source=source,
            sink=sink,
            constants={
                "WORKGROUP": workgroup,
                "SHARED": int(team > 1),
                "K": k,
                "UNROLL": unroll,
                "AHEAD": 2 if unroll == 1 else 1,
            },
            params={"k": problem.k, "team": min(team, workgroup)},
        )
