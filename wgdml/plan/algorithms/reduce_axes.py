"""k = 1 over two axes with others between them: one axis after the other, each as memory has it."""

from __future__ import annotations

import math
from dataclasses import replace

from ...selection import BatchDim, merged_dims
from ..problem import Problem
from ..program import Program
from ..regions import Sink, Spread, View
from .base import Algorithm

_SHORTEST = 4  # Items of the longer axis. Pairs of shorter ones would take as long as the elements.


class ReduceAxes(Algorithm[None]):
    """The best pair along the longer axis, for each position of the other; then the best of those.

    Of pairs that share a position of one axis, the order of flattened indices is that along the
    other axis. So either axis may be the first.
    """

    name = "reduce_axes"
    summary = "the best pair along one axis, and of those along the other"

    def check(self, problem: Problem) -> None:
        self.require(not problem.ragged, "takes all items of two axes, not spans of them")
        self.require(problem.k == 1, f"finds the first pair only, not k={problem.k}")
        axes = len(problem.view.sizes)
        self.require(axes == 2, f"takes two axes, not {axes}")
        self.require(max(problem.view.sizes) >= _SHORTEST, f"takes axes of {_SHORTEST} items and more, not {problem.view.sizes}")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        view, sequences = problem.view, problem.sequences
        selection = view.selection
        along = 0 if view.sizes[0] > view.sizes[1] else 1
        items, other = view.sizes[1 - along], selection.axes[1 - along]
        # The other axis is one more dimension of the batch, among those by their strides.
        batch = [replace(d, value_stride=0, index_stride=0) for d in selection.batch]
        inner = [d for d in batch if d.input_stride < other.stride]
        outer = [d for d in batch if d.input_stride >= other.stride]
        lines = replace(
            selection,
            batch=merged_dims([*outer, BatchDim(items, other.stride, 0, 0), *inner]),
            axes=(replace(selection.axes[along], size=view.sizes[along]),),
            input_offset=view.offset,
        )
        best = program.pairs(sequences * items, 1)
        program.sequences = lines.sequences
        program.run(View(lines, (0,), (lines.length,), view.vectors), lines.sequences, 1, best)
        program.sequences = sequences
        between = math.prod(d.size for d in inner)
        steps = view.axis_steps
        spread = Spread(between, steps[along], steps[1 - along], view.first_index)
        found = replace(best, step=items * between, length=items, item_step=between, spread=spread)
        program.run(found, sequences, 1, sink)
