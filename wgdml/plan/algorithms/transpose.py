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

_SECTOR = 32  # bytes: a row of a tile is as many, or a multiple, so that memory takes it whole
_LINE = 128  # bytes of a tile's columns side by side, or twice as many words where that is all
_BYTES = 8 << 10  # of a tile in workgroup memory, half of the least that there is
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
        step = ceil_div(view.covered * view.selection.format.bytes, _SECTOR) * _SECTOR
        most = min(max(_SLICE, sequences * step // 4), m.max_storage_buffer_binding_size)
        # Pairs of a slice would lie apart.
        count = ceil_div(sequences * step, most) if isinstance(sink, Outputs) else 1
        kept, outer = program.arena.used, program.spans
        for part in slices(view.selection, count):
            program.arena.used = kept
            if count > 1:
                program.enter(part)
            columns = replace(view, selection=part)
            rows = _rows_of(columns, step, program.arena.take(part.sequences * step))
            self._copy(program, columns, part.sequences, rows)
            program.run(rows, part.sequences, problem.k, replace(sink, view=rows) if isinstance(sink, Outputs) else sink)
        program.sequences, program.spans = sequences, outer

    def _copy(self, program: Program, columns: View, sequences: int, rows: View) -> None:
        form, inner = columns.selection.format, 1
        if columns.columns:  # no slice of a single one
            inner = columns.selection.batch[-1].size
        per_unit, most = max(1, 4 // form.bytes), inner
        if inner > _LINE // 2:
            # As many in each tile: few invocations are idle.
            most = ceil_div(inner, ceil_div(inner, _LINE // form.bytes))
        units, whole = _BYTES // (4 * form.key_words), _SECTOR // form.bytes
        tile = max(whole, units // most * per_unit // whole * whole)
        tile = min(tile, ceil_div(columns.covered, whole) * whole)
        across = min(inner, units * per_unit // tile)
        tiles = ceil_div(columns.covered, tile)
        program.dispatch(
            "util/transpose",
            sequences // inner * ceil_div(inner, across) * tiles,
            source=columns,
            bind={"rows": rows.region} if rows.region else {},
            # Elements are looked at one by one: a vector would bring more than are asked for.
            constants={
                "UNITS": units // self.machine.workgroup,
                "PER_UNIT": per_unit,
                "QUARTER": 4 // form.key_words,
                "INPUT_WORDS": 1,
            },
            params={"neighbours": inner, "tile": tile, "tile_columns": across, "tiles": tiles},
        )


def _rows_of(columns: View, step: int, region: Region) -> View:
    """The same sequences, in the same order, as rows of a region, ``step`` bytes apart."""
    stride, batch = step // columns.selection.format.bytes, []
    for d in reversed(columns.selection.batch):
        batch.append(replace(d, input_stride=stride))
        stride *= d.size
    rows = replace(columns.selection, batch=tuple(batch[::-1]), axes=(AxisDim(columns.covered, 1),), input_offset=0)
    return View(rows, (0,), (columns.covered,), True, start_index=columns.first_index, region=region)
