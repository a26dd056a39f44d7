"""Top-k of long sequences on software adapters, by small kernels without barriers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..machine import power_of_two_below
from ..policy import number
from ..problem import Problem
from ..program import Program
from ..regions import Pairs, Sink
from .base import Algorithm, uses
from .serial_merge import SerialMerge
from .serial_subsets import WIDE_WORKGROUP, Subsets, dispatch_invocations, reduce_subsets

_DELEGATES = 32  # of a sequence, at least


@dataclass(frozen=True)
class SerialSelectPolicy:
    """Where subsets pay, and what is read of them again."""

    #: Subsets pay from so many bytes in all on. Lists or merges of fewer take less than ten
    #: dispatches (benchmarks/LOG.md#lists-of-parts-on-software-adapters-2026-12-01-9611156).
    min_bytes: int = number(1 << 17, 1, 1 << 26, powers=True)

    #: Delegates are this often the root of length and k: each is put in order, and fewer leave more
    #: to read again (benchmarks/LOG.md#runs-and-merges-on-software-adapters-2026-11-29-258952a).
    reach: float = number(0.45, 0.1, 4.0)
    #: This many invocations read a subset again
    #: (benchmarks/LOG.md#small-kernels-without-barriers-2026-11-23-27c0d6c).
    slices: int = number(8, 1, 64, powers=True)


class SerialSelect(Algorithm[SerialSelectPolicy]):
    """The bests of subsets, the first k of those, and what of their subsets is up to the last."""

    name = "serial_select"
    summary = "delegates, the first k of them, what is up to the last of these, and that in order; one read and a little"
    merge = uses(SerialMerge)

    def check(self, problem: Problem) -> Subsets:
        self.check_one_axis(problem)
        count = max(_DELEGATES, int(self.policy.reach * math.sqrt(problem.length * problem.k)))
        subsets = Subsets.of(problem.source, count)
        self.require(problem.k <= subsets.count, f"takes k up to {subsets.count} of {problem.length} items, not k={problem.k}")
        self.merge.check_lists(problem, max(subsets.count, self._listed(problem, subsets)))
        return subsets

    @staticmethod
    def _listed(problem: Problem, subsets: Subsets) -> int:
        """Items of the subsets that are chosen: all of them have places."""
        return min(problem.length, problem.k * subsets.members * subsets.per_load)

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        subsets, sequences, k = self.check(problem), problem.sequences, problem.k
        delegates = program.pairs(sequences, subsets.count, side_by_side=sequences >= 8)
        reduce_subsets(program, problem.source, sequences, delegates, subsets)
        chosen = program.pairs(sequences, k)
        self.merge.build(program, replace(problem, source=delegates), chosen)
        self.merge.build(program, replace(problem, source=self._filter(program, problem, subsets, chosen)), sink)

    def _filter(self, program: Program, problem: Problem, subsets: Subsets, chosen: Pairs) -> Pairs:
        """What is up to the last that was chosen."""
        sequences, k = problem.sequences, problem.k
        counts = program.words(sequences)
        program.clear(counts)
        listed = program.pairs(sequences, self._listed(problem, subsets))
        slices = min(self.policy.slices, power_of_two_below(subsets.members))
        dispatch_invocations(
            program,
            "serial/filter",
            sequences * k * slices,
            source=problem.source,
            sink=listed,
            bind={"chosen_keys": chosen.keys, "chosen_indices": chosen.indices, "list_counts": counts},
            constants=subsets.constants(problem.source),
            params=subsets.params(problem.source, sequences) | {"k": k, "slices": slices},
            workgroup=WIDE_WORKGROUP,
        )
        return replace(listed, counts=counts)
