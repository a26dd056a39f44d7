"""Columns copied to rows of scratch, which are then selected from as any rows are."""

from __future__ import annotations

from dataclasses import replace

from ...selection import AxisDim
from ..cut import slices
from ..machine import ceil_div
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Outputs, Region, Sink, View
from .base import Algorithm

_TILE = 32  # bytes of a row that an invocation copies: a sector of memory
#: Bytes of scratch. Larger inputs take a quarter of their size, a slice after the other.
_SLICE = 64 << 20


class Transpose(Algorithm):
    """A read and a write more than rows take, and their memory, for whatever they do best."""

    name = "transpose"
    summary = "columns copied to rows of scratch, and what serves those; a read and a write more"
    takes_nothing = True

    def check(self, problem: Problem) -> None:
        if not problem.columns:
            raise Unserved("transpose takes neighbouring columns along one axis")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        self.check(problem)
        view, sequences, m = problem.view, problem.sequences, self.machine
        step = ceil_div(view.covered * view.selection.format.bytes, _TILE) * _TILE
        most = min(max(_SLICE, sequences * step // 4), m.max_storage_buffer_binding_size)
        # Pairs of a slice would lie apart.
        count = ceil_div(sequences * step, most) if isinstance(sink, Outputs) else 1
        kept, outer = program.arena.used, program.spans
        for part in slices(view.selection, count):
            program.arena.used = kept
            if count > 1:
                program.enter(part)
            columns, tiles = replace(view, selection=part), step // _TILE
            rows = _rows_of(columns, step, program.arena.take(part.sequences * step))
            program.dispatch(
                "util/transpose",
                ceil_div(part.sequences * tiles, m.workgroup),
                source=columns,
                bind={"rows": rows.region} if rows.region else {},
                # Elements are looked at one by one: a vector would bring more than are asked for.
                constants={"ITEMS_PER_THREAD": _TILE // part.format.bytes, "INPUT_WORDS": 1},
                params={"tiles": tiles},
            )
            program.run(rows, part.sequences, problem.k, replace(sink, view=rows) if isinstance(sink, Outputs) else sink)
        program.sequences, program.spans = sequences, outer


def _rows_of(columns: View, step: int, region: Region) -> View:
    """The same sequences, in the same order, as rows of a region, ``step`` bytes apart."""
    stride, batch = step // columns.selection.format.bytes, []
    for d in reversed(columns.selection.batch):
        batch.append(replace(d, input_stride=stride))
        stride *= d.size
    rows = replace(columns.selection, batch=tuple(batch[::-1]), axes=(AxisDim(columns.covered, 1),), input_offset=0)
    return View(rows, (0,), (columns.covered,), True, start_index=columns.first_index, region=region)
