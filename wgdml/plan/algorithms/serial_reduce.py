"""k = 1 on machines that run few invocations: each reads a run, then one reads what they found."""

from __future__ import annotations

from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Outputs, Pairs, Sink
from .base import Algorithm
from .serial_subsets import Subsets, emit, reduce_subsets

_LOADS = 8  # of an invocation, before eight share a sequence
_INVOCATIONS = 2048  # which keep every processor at work to the end


class SerialReduce(Algorithm):
    """The best pair of each run of loads, and of those the best."""

    name = "serial_reduce"
    summary = "the best pair of each run, and the best of those; one loop a dispatch"

    def check(self, problem: Problem) -> None:
        if problem.k != 1:
            raise Unserved(f"serial_reduce finds the first pair only, not k={problem.k}")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        self.check(problem)
        source, sequences = problem.source, problem.sequences
        parts = 1
        if problem.loads >= 8 * _LOADS:
            parts = 8 * max(1, min(_INVOCATIONS // sequences, problem.loads // 64) // 8)
        subsets = Subsets.of(source, parts)
        if subsets.count == 1:
            # To compile a value costs as much as all the rest: the kernel that emits pairs has it.
            found = program.pairs(sequences, 1) if isinstance(sink, Outputs) and program.selection.has_values else sink
            reduce_subsets(program, source, sequences, found, subsets)
            if isinstance(found, Pairs) and found is not sink:
                emit(program, found, sequences, 1, sink)
            return
        found = program.pairs(sequences, subsets.count, side_by_side=source.columns and sequences > 1)
        reduce_subsets(program, source, sequences, found, subsets)
        reduce_subsets(program, found, sequences, sink, Subsets.of(found, 1))
