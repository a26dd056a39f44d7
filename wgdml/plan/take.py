"""The plan that takes elements by their indices along an axis."""

from __future__ import annotations

from ..selection import Selection
from .cut import parts_of, pieces_of, views_of
from .machine import Machine, ceil_div
from .planner import Planner
from .program import Plan, Program
from .regions import Outputs

__all__ = ["take_plan"]


def take_plan(machine: Machine, selection: Selection, *, vectors: bool, shared_input: bool) -> Plan:
    """The input and the indices to the values: a result a sequence, taken along the axis."""
    program = Program(selection, machine, Planner(machine).choose, vectors=vectors, shared_input=shared_input)
    pieces = pieces_of(selection, machine)
    for part in parts_of(selection, pieces):
        for view in views_of(part, pieces, vectors):
            program.sequences = part.sequences
            program.dispatch("util/take", ceil_div(part.sequences, machine.workgroup), sink=Outputs(view))
    return Plan(tuple(program.dispatches), program.arena.peak, ("take",))
