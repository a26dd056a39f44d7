"""k = 1 on machines that run few invocations: each reads a run, then one reads what they found."""

from __future__ import annotations

from dataclasses import dataclass

from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Outputs, Pairs, Sink
from .base import Algorithm
from .serial_subsets import Subsets, reduce_subsets


@dataclass(frozen=True)
class SerialReducePolicy:
    """Runs of loads."""

    #: An invocation has this many loads, before several share a sequence
    #: (benchmarks/LOG.md#small-kernels-without-barriers-2026-11-23-27c0d6c).
    loads: int = number(64, 1, 1 << 12)
    #: This many invocations keep every processor at work to the end (the same figures).
    invocations: int = number(2048, 8, 1 << 17)


class SerialReduce(Algorithm[SerialReducePolicy]):
    """The best pair of each run of loads, and of those the best."""

    name = "serial_reduce"
    summary = "the best pair of each run, and the best of those; one loop a dispatch"
    takes_nothing = True

    def check(self, problem: Problem) -> None:
        self.require(problem.k == 1, f"finds the first pair only, not k={problem.k}")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        source, sequences = problem.source, problem.sequences
        parts = max(1, min(self.policy.invocations // sequences, problem.loads // self.policy.loads))
        # Of rows a run for each invocation: eight that share one take twice as long. Of columns
        # neighbours read side by side, and eight that share one pay where columns are few
        # (benchmarks/LOG.md#columns-on-software-adapters-2026-12-01-c1a54c8).
        subsets = Subsets.of(source, parts, lanes=1) if source.rows else Subsets.of(source, parts // 8 * 8 or 1)
        if subsets.count == 1:
            # To compile a value costs as much as all the rest: the kernel that emits pairs has it.
            found = program.pairs(sequences, 1) if isinstance(sink, Outputs) and program.selection.has_values else sink
            reduce_subsets(program, source, sequences, found, subsets, {"least": 1})
            if isinstance(found, Pairs) and found is not sink:
                program.emit(found, sequences, 1, [sink], 1)
            return
        while subsets.count > 1:
            found = program.pairs(sequences, subsets.count, side_by_side=source.columns and sequences > 1)
            reduce_subsets(program, source, sequences, found, subsets, {"least": 1})
            source, subsets = found, Subsets.of(found, 1)
        reduce_subsets(program, source, sequences, sink, subsets)
