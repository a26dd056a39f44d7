"""How a selection is cut to fit bindings: its batch into parts, its axes into views."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from ..selection import BESIDES, Beside, Selection, extent
from .machine import Machine
from .regions import ALIGNMENT, Outputs, View

#: A whole sequence leaves at least one part in so many of a binding to others, or it is cut.
_ROOM = 8


class Pieces(NamedTuple):
    """Sizes of the pieces of each batch dimension, of each axis, and of the ranks."""

    batch: list[int]
    axes: list[int]
    ranks: int


def pieces_of(s: Selection, machine: Machine) -> Pieces:
    """The largest pieces of which each tensor's part fits a binding."""
    limit = machine.max_storage_buffer_binding_size // 16 * 16 - 2 * ALIGNMENT
    sizes = [d.size for d in s.batch]
    strides = [d.input_stride for d in s.batch]
    batch, axes = _cut(sizes, strides, [(a.size, a.stride) for a in s.axes], limit // s.format.bytes)
    ranks = s.k
    for wanted, size, strides, step in (
        (s.has_values, s.format.bytes, [d.value_stride for d in s.batch], s.value_step),
        (s.has_indices, s.index_bytes, [d.index_stride for d in s.batch], s.index_step),
    ):
        if wanted:
            batch, [ranks] = _cut(batch, strides, [(ranks, step)], limit // size)
    for number, name in enumerate(BESIDES):
        beside: Beside | None = getattr(s, name)
        if beside is not None:
            strides, most = [d.besides[number] for d in s.batch], limit // beside.format.bytes
            reach = extent([(s.length, beside.step)])
            if reach > most:
                raise MemoryError(
                    f"ids or a payload of a sequence of {s.length} items must fit a binding of {limit} bytes, "
                    f"and reach over {reach * beside.format.bytes}"
                )
            batch = _fit(list(zip(batch, strides, strict=True)), most - reach + 1)
    return Pieces(batch, axes, ranks)


def _cut(batch: list[int], strides: list[int], sequence: list[tuple[int, int]], limit: int) -> tuple[list[int], list[int]]:
    """Sizes of pieces of a batch and of a sequence's (size, stride) dimensions, up to ``limit``.

    The batch alone is cut where a whole sequence leaves room for others: nothing is merged then. A
    column reaches over far more elements than it has, and those between are other columns'.
    """
    dims, reach = list(zip(batch, strides, strict=True)), extent(sequence)
    if reach <= limit - limit // _ROOM:
        return _fit(dims, limit - reach + 1), [size for size, _ in sequence]
    pieces = _fit(dims + sequence, limit)
    return pieces[: len(batch)], pieces[len(batch) :]


def parts_of(s: Selection, pieces: Pieces) -> Iterator[Selection]:
    for starts in product(*(range(0, d.size, n) for d, n in zip(s.batch, pieces.batch, strict=True))):
        part = s
        # From the innermost dimension out: one that is cut to a single sequence disappears.
        for d in reversed(range(len(s.batch))):
            part = _sub_batch(part, d, starts[d], min(pieces.batch[d], s.batch[d].size - starts[d]))
        yield part


def views_of(part: Selection, pieces: Pieces, vectors: bool) -> list[View]:
    return [
        View(part, starts, tuple(min(n, a.size - x) for n, a, x in zip(pieces.axes, part.axes, starts, strict=True)), vectors)
        for starts in product(*(range(0, a.size, n) for a, n in zip(part.axes, pieces.axes, strict=True)))
    ]


def outputs_of(part: Selection, views: list[View]) -> list[Outputs]:
    """Where pairs of all views go: values are read again from each."""
    return [Outputs(view) for view in (views if part.has_values else [View.whole(part, views[0].vectors)])]


def slices(part: Selection, count: int) -> list[Selection]:
    """A part cut into so many or a few more, along the outermost batch dimension that has them.

    So neighbours in memory stay together. Where none has as many, along the longest into fewer.
    """
    if count == 1 or not part.batch:
        return [part]
    sizes = [d.size for d in part.batch]
    d = next((d for d, size in enumerate(sizes) if size >= count), sizes.index(max(sizes)))
    size, step = sizes[d], max(1, sizes[d] // count)
    return [_sub_batch(part, d, first, min(step, size - first)) for first in range(0, size, step)]


def _sub_batch(s: Selection, d: int, first: int, size: int) -> Selection:
    dim = s.batch[d]
    if size == dim.size > 1:
        return s  # Mostly nothing is cut.
    kept = () if size == 1 else (replace(dim, size=size),)
    besides: dict[str, Any] = {
        name: replace(beside, offset=beside.offset + first * stride)
        for name, stride in zip(BESIDES, dim.besides, strict=True)
        if (beside := getattr(s, name)) is not None
    }
    return replace(
        s,
        **besides,
        batch=s.batch[:d] + kept + s.batch[d + 1 :],
        input_offset=s.input_offset + first * dim.input_stride,
        value_offset=s.value_offset + first * dim.value_stride,
        index_offset=s.index_offset + first * dim.index_stride,
    )


def _fit(dims: list[tuple[int, int]], limit: int) -> list[int]:
    """Sizes of pieces of each (size, stride) dimension that span at most ``limit`` elements."""
    sizes = [size for size, _ in dims]
    for d in sorted(range(len(dims)), key=lambda d: -dims[d][1]):
        span = extent((n, stride) for n, (_, stride) in zip(sizes, dims, strict=True))
        if span <= limit:
            break
        others = span - (sizes[d] - 1) * dims[d][1]
        sizes[d] = max(1, min(sizes[d], (limit - others) // dims[d][1] + 1)) if limit > others else 1
    return sizes
