"""Selections of a Tensor's sequences whose results lie sequence by sequence, their pairs last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from .arguments import element_name
from .results import TopKResult
from .runtime.tensor import Tensor, bound, packed_tensor, resources_of
from .selection import Layout, Order, Selection, make_selection, packed_strides


def batch_of(shape: Sequence[int], axes: Sequence[int], keeps: bool = False) -> tuple[int, ...]:
    """A shape without the axes, or with size 1 in their places."""
    return tuple(1 if d in axes else n for d, n in enumerate(shape) if keeps or d not in axes)


def line_selection(
    x: Tensor,
    axes: tuple[int, ...],
    k: int,
    order: Order,
    *,
    has_values: bool = False,
    index_bytes: int = 0,
    last_index: bool = False,
    values: Layout | None = None,
) -> Selection:
    """The first k pairs along the axes. Results have x's other dimensions, then the k, packed.

    ``index_bytes``: of an index, 0 where none are wanted. ``values``: another layout in place of
    the results' own. Strides are there whatever is wanted.
    """
    places = iter(packed_strides((*batch_of(x.shape, axes), k)))
    steps = tuple(0 if d in axes else next(places) for d in range(x.ndim))
    result = Layout(batch_of(x.shape, axes, True), steps)
    selection = make_selection(
        element_name(x.dtype),
        bound(x).elements.layout,
        axes,
        k,
        order,
        values=values or result,
        indices=result,
        index_bytes=index_bytes or 4,
        last_index=last_index,
    )
    return replace(
        selection,
        value_step=values.strides[axes[0]] if values else 1,
        index_step=1,
        has_values=has_values,
        has_indices=index_bytes > 0,
    )


@dataclass(frozen=True)
class Wanted:
    """What is asked for: the first k along an axis, or the first over several axes."""

    axes: tuple[int, ...]
    k: int
    order: Order
    last_index: bool
    has_values: bool
    index_dtype: np.dtype[Any]


def first_pairs(x: Tensor, wanted: Wanted) -> TopKResult:
    """Submits the selection: values, None if not wanted, and indices."""
    shape, dtype = (*batch_of(x.shape, wanted.axes), wanted.k), wanted.index_dtype
    results = {"values": packed_tensor(x.device, x.dtype, shape)} if wanted.has_values else {}
    results["indices"] = packed_tensor(x.device, dtype, shape)
    if prod(shape):
        selection = line_selection(
            x,
            wanted.axes,
            wanted.k,
            wanted.order,
            has_values=wanted.has_values,
            index_bytes=dtype.itemsize,
            last_index=wanted.last_index,
        )
        prepared = x.device.prepare(selection, vectors=bound(x).elements.vectors)
        x.device.run(prepared, resources_of({"input": x, **results}))
    return TopKResult(results.get("values"), results["indices"])
