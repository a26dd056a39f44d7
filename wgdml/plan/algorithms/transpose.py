"""Columns copied to rows of scratch, which are then selected from as any rows are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from ...selection import AxisDim
from ..cut import slices
from ..machine import ceil_div
from ..problem import Problem, Unserved
from ..program import Program
from ..regions import Outputs, Region, Sink, View
from .base import Algorithm

_SECTOR = 32  # bytes: a row of a tile is as many, or a multiple, so that memory takes it whole
_LINE = 256  # bytes of a tile's columns side by side, at most
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
        shape = _tile_of(columns, inner)
        tiles = ceil_div(columns.covered, shape.tile)
        program.dispatch(
            "util/transpose",
            sequences // inner * ceil_div(inner, shape.tile_columns) * tiles,
            source=columns,
            bind={"rows": rows.region} if rows.region else {},
            # Words are looked at one by one: a vector would bring more than are asked for.
            constants={
                "UNITS": _units(form.bytes) // self.machine.workgroup,
                "PER_UNIT": max(1, 4 // form.bytes),
                "INPUT_WORDS": 1,
            },
            params=asdict(shape) | {"neighbours": inner, "tiles": tiles},
        )


@dataclass(frozen=True)
class _Tile:
    tile: int
    tile_columns: int
    run_items: int
    run_units: int


def _units(size: int) -> int:
    """Units of a tile, words or longer elements: some half of the least workgroup memory."""
    return 1024 if size > 4 else 2304


def _tile_of(columns: View, inner: int) -> _Tile:
    """The tile with the most elements, of as many columns as a line holds, or a little fewer."""
    fewest = ceil_div(inner * columns.selection.format.bytes, _LINE)
    tiles = [_tile(columns, ceil_div(inner, pieces)) for pieces in (fewest, fewest + 1)]
    return max(tiles, key=lambda tile: tile.tile * tile.tile_columns)


def _tile(columns: View, across: int) -> _Tile:
    """As many items of so many columns, by sectors, as workgroup memory has room for."""
    size = columns.selection.format.bytes
    # Where an item ends with the columns, the next one follows.
    items = 16 // size if columns.selection.axes[0].stride == across else 1
    # An element may begin anywhere in a word.
    units = ceil_div(items * across * size + 4 - size, 4) if size < 4 else items * across
    whole = _SECTOR // size
    tile = _units(size) // (units | 1) * items // whole * whole
    return _Tile(min(tile, ceil_div(columns.covered, whole) * whole), across, items, units)


def _rows_of(columns: View, step: int, region: Region) -> View:
    """The same sequences, in the same order, as rows of a region, ``step`` bytes apart."""
    stride, batch = step // columns.selection.format.bytes, []
    for d in reversed(columns.selection.batch):
        batch.append(replace(d, input_stride=stride))
        stride *= d.size
    rows = replace(columns.selection, batch=tuple(batch[::-1]), axes=(AxisDim(columns.covered, 1),), input_offset=0)
    return View(rows, (0,), (columns.covered,), True, start_index=columns.first_index, region=region)
