"""k = 1 on machines that run few invocations: each reads a run, then one reads what they found."""

from __future__ import annotations

from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Outputs, Pairs, Sink
from .base import Algorithm
from .serial_subsets import Subsets, emit, reduce_subsets

_LOADS = 64  # of an invocation, before several share a sequence
_INVOCATIONS = 2048  # which keep every processor at work to the end


class SerialReduce(Algorithm):
    """The best pair of each run of loads, and of those the best."""

    name = "serial_reduce"
    summary = "the best pair of each run, and the best of those; one loop a dispatch"
    takes_nothing = True

    def check(self, problem: Problem) -> None:
        if problem.k != 1:
            raise Unserved(f"serial_reduce finds the first pair only, not k={problem.k}")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        self.check(problem)
        source, sequences = problem.source, problem.sequences
        if source.rows:
            # A run of its own for each invocation: eight that share one take twice as long.
            parts = max(1, min(_INVOCATIONS // sequences, problem.loads // _LOADS))
            subsets = Subsets.of(source, parts, lanes=1)
        else:
            parts = 8 * max(1, min(_INVOCATIONS // sequences, problem.loads // _LOADS) // 8)
            subsets = Subsets.of(source, parts if problem.loads >= _LOADS else 1)
        if subsets.count == 1:
            # To compile a value costs as much as all the rest: the kernel that emits pairs has it.
            found = program.pairs(sequences, 1) if isinstance(sink, Outputs) and program.selection.has_values else sink
            reduce_subsets(program, source, sequences, found, subsets, {"least": 1})
            if isinstance(found, Pairs) and found is not sink:
                emit(program, found, sequences, 1, sink)
            return
        found = program.pairs(sequences, subsets.count, side_by_side=source.columns and sequences > 1)
        reduce_subsets(program, source, sequences, found, subsets, {"least": 1})
        reduce_subsets(program, found, sequences, sink, Subsets.of(found, 1))
