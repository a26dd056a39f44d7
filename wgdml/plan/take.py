"""The plan that takes elements by their indices along an axis."""

from __future__ import annotations

from ..selection import Selection
from .cut import Pieces, views_of
from .machine import ceil_div
from .planner import Planner
from .program import Plan, Program
from .regions import Outputs


def take_plan(planner: Planner, selection: Selection, *, signed: bool, vectors: bool, shared_input: bool) -> Plan:
    """The input and the indices to the values: a result a sequence, taken along the axis.

    ``signed``: are the indices of a signed type, so that some may count from the end?
    """

    def build(program: Program, part: Selection, pieces: Pieces) -> None:
        program.algorithms.append("take")
        form = 8 * part.index_bytes + 128 * signed
        for view in views_of(part, pieces, vectors):
            workgroups = ceil_div(part.sequences, planner.machine.workgroup)
            program.dispatch("util/take", workgroups, sink=Outputs(view), params={"index_form": form})

    return planner.compose(selection, build, vectors=vectors, shared_input=shared_input)
