"""Columns, and other layouts, copied to rows of scratch, which are read as any rows are."""

from __future__ import annotations

from dataclasses import replace

from ...selection import AxisDim
from ..cut import slices
from ..machine import ceil_div
from ..problem import Problem
from ..program import Program
from ..regions import Outputs, Region, Sink, View
from .base import Algorithm

_SECTOR = 32  # bytes: a row of a tile is as many, or a multiple, so that memory takes it whole
_LINE = 256  # bytes of a tile's columns side by side, at most
#: Bytes of scratch. Larger inputs take a quarter of their size, a slice after the other.
_SLICE = 64 << 20
#: Results of one column go from scratch to the outputs by tiles where there are so many, or half of
#: it, and in all so many: a workgroup a column writes each to a line of memory of its own
#: (benchmarks/LOG.md#results-down-columns-by-tiles-2026-11-28-47b932e).
_DENSE_RANKS, _FEWEST_RESULTS = 512, 1 << 19
_SHORT_RANKS = 64  # Up to so many are of short rows: a workgroup has several, side by side.


class Transpose(Algorithm[None]):
    """A read and a write more than rows take, and their memory, for whatever they do best."""

    name = "transpose"
    summary = "columns copied to rows of scratch, and what serves those; a read and a write more"
    takes_nothing = True

    def check(self, problem: Problem) -> None:
        self.require(problem.columns, "takes neighbouring columns along one axis")

    def build(self, program: Program, problem: Problem, sink: Sink) -> None:
        view, sequences, m = problem.view, problem.sequences, self.machine
        step = _step(view)
        most = min(max(_SLICE, sequences * step // 4), m.max_storage_buffer_binding_size)
        # Pairs of a slice would lie apart.
        count = ceil_div(sequences * step, most) if isinstance(sink, Outputs) else 1
        turned = program.turns(sink) and self._dense(problem)
        if turned:
            # A copy and pairs take no more scratch than a pair an item.
            pair = problem.format.pair_size
            count = max(count, ceil_div(step + problem.k * pair, view.covered * pair))
        kept, outer = program.arena.used, program.spans
        for part in slices(view.selection, count):
            program.arena.used = kept
            if count > 1:
                program.enter(part)
            rows = self.copied(program, replace(view, selection=part), part.sequences)
            results = replace(sink, view=rows) if isinstance(sink, Outputs) else sink
            # A slice may have fewer neighbours.
            if turned and program.turns(results):
                ordered = program.pairs(part.sequences, problem.k)
                program.run(rows, part.sequences, problem.k, ordered)
                program.emit(ordered, part.sequences, problem.k, [results], problem.k)
            else:
                program.run(rows, part.sequences, problem.k, results)
        program.sequences, program.spans = sequences, outer

    def copied(self, program: Program, columns: View, sequences: int) -> View:
        """Sequences that are no rows as rows of scratch."""
        region = program.arena.take(sequences * _step(columns))
        if columns.one_axis:
            self._copy(program, columns, sequences, region)
        else:
            vectors = sequences * _step(columns) // 16
            program.dispatch(
                "util/pack",
                ceil_div(vectors, self.machine.workgroup),
                source=columns,
                bind={"rows": region},
                constants={"ITEMS": 16 // columns.selection.format.bytes},
            )
        return rows_of(columns, region)

    def fits(self, columns: View, sequences: int) -> bool:
        """May sequences that are no rows be read as a copy? Not on software adapters.

        It fits a binding, half of the largest buffer, and three quarters of a pair an item.
        """
        step, m = _step(columns), self.machine
        room = min(m.max_storage_buffer_binding_size, m.max_buffer_size // 2)
        narrow = 4 * step <= 3 * columns.covered * columns.selection.format.pair_size
        return not m.software and not columns.rows and narrow and sequences * step <= room

    @staticmethod
    def _dense(problem: Problem) -> bool:
        """Are results so many that to turn them takes less than to scatter them?"""
        dense = problem.k >= _DENSE_RANKS or (problem.k > _SHORT_RANKS and 2 * problem.k >= problem.length)
        return dense and problem.sequences * problem.k >= _FEWEST_RESULTS

    def _copy(self, program: Program, columns: View, sequences: int, rows: Region) -> None:
        form, inner = columns.selection.format, 1
        if columns.columns:  # no slice of a single one
            inner = columns.selection.batch[-1].size
        # Of as many columns as a line holds, or a little fewer: the tile with the most elements.
        fewest = ceil_div(inner * columns.selection.format.bytes, _LINE)
        shapes = [_tile(columns, ceil_div(inner, pieces)) for pieces in (fewest, fewest + 1)]
        shape = max(shapes, key=lambda shape: shape["tile"] * shape["tile_columns"])
        tiles = ceil_div(columns.covered, shape["tile"])
        program.dispatch(
            "util/transpose",
            sequences // inner * ceil_div(inner, shape["tile_columns"]) * tiles,
            source=columns,
            bind={"rows": rows},
            constants={
                "UNITS": _units(form.bytes) // self.machine.workgroup,
                "PER_UNIT": max(1, 4 // form.bytes),
            },
            params=shape | {"neighbours": inner, "tiles": tiles},
        )


def _units(size: int) -> int:
    """Units of a tile, words or longer elements: some half of the least workgroup memory."""
    return 1024 if size > 4 else 2304


def _tile(columns: View, across: int) -> dict[str, int]:
    """As parameters: as many items, by sectors, of so many columns as memory has room for."""
    size = columns.selection.format.bytes
    # Where an item ends with the columns, the next one follows.
    items = 16 // size if columns.selection.axes[0].stride == across else 1
    # An element may begin anywhere in a word.
    units = ceil_div(items * across * size + 4 - size, 4) if size < 4 else items * across
    whole = _SECTOR // size
    tile = _units(size) // (units | 1) * items // whole * whole
    tile = min(tile, ceil_div(columns.covered, whole) * whole)
    return {"tile": tile, "tile_columns": across, "run_items": items, "run_units": units}


def _step(columns: View) -> int:
    """Bytes between rows of scratch."""
    return ceil_div(columns.covered * columns.selection.format.bytes, _SECTOR) * _SECTOR


def rows_of(columns: View, region: Region) -> View:
    """The same sequences, in the same order, as rows of a region."""
    stride, batch = _step(columns) // columns.selection.format.bytes, []
    for d in reversed(columns.selection.batch):
        batch.append(replace(d, input_stride=stride))
        stride *= d.size
    rows = replace(columns.selection, batch=tuple(batch[::-1]), axes=(AxisDim(columns.covered, 1),), input_offset=0)
    return View(rows, (0,), (columns.covered,), True, start_index=columns.first_index, region=region)
