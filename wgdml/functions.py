"""The functions: NumPy arrays or Tensors in, the same kind out, after the Python array API standard's signatures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, NamedTuple, SupportsIndex, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .arguments import as_axes, as_axis, as_index_dtype, as_int, as_ints, as_k, as_order, element_name
from .results import TopKResult
from .runtime.bindings import Placement
from .runtime.default import as_device
from .runtime.device import Device
from .runtime.executor import Executor, PreparedPlan
from .runtime.tensor import Elements, Tensor, as_numpy, asarray, bound, check_alive, new_tensor
from .runtime.transfers import Span
from .selection import Layout, Order, make_selection, packed_strides

__all__ = ["TopKResult", "argmax", "argmin", "argsort", "sort", "top_k"]

_LARGEST = 2**32 - 1  # elements, by the contract
_KEPT_WHOLE = 256 << 20  # bytes of a file that are worth the device's memory
_SMALLEST_LARGEST_BUFFER = 256 << 20  # bytes: the least that WebGPU lets a device have as its max-buffer-size


def top_k(
    x: ArrayLike | Tensor,
    k: SupportsIndex,
    /,
    *,
    axis: SupportsIndex = -1,
    mode: Literal["largest", "smallest"] = "largest",
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
) -> TopKResult:
    """The k largest (or smallest) elements along an axis, sorted, and where they are.

    ``x`` has any shape with at least one dimension; ``values`` has x's data type and bits, ``indices`` ``index_dtype`` (int64,
    int32, uint64 or uint32). Largest come in descending, smallest in ascending order; equal elements (-0.0 and 0.0; all NaNs) in
    ascending order of index. NaN is greater than every number. k = 0 gives empty results.

    Raises ``ValueError`` for an axis out of range, k < 0 or k over the axis, an unknown mode; ``TypeError`` for data types without
    an order.
    """
    order = as_order(mode)
    if _streams(x, device):
        from . import outofcore

        source = cast("outofcore.Source", x)
        return outofcore.top_k(source, k, axis=axis, mode=mode, index_dtype=index_dtype, device=device)
    k = k if type(k) is int else as_int("k", k)
    return TopKResult(*_select(x, k, axis, order, True, as_index_dtype(index_dtype), device))


def argmax(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
) -> Any:
    """The index of the first maximum over an axis, several (flattened row-major in ascending order of axis) or all of them.

    NaN wins over every number, the first NaN over later ones. ``select_last_index`` takes the last of several equal ones.
    The result has x's shape without the reduced axes (of size 1 with ``keepdims``) and data type ``index_dtype``.

    Raises ``ValueError`` for axes out of range, repeated or empty, and where there is nothing to reduce; ``TypeError`` for data
    types without an order.
    """
    return _arg(x, axis, keepdims, select_last_index, Order.MAXIMUM, as_index_dtype(index_dtype), device)


def argmin(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
) -> Any:
    """The index of the first minimum: as ``argmax``; NaN wins over every number here too, as in NumPy."""
    return _arg(x, axis, keepdims, select_last_index, Order.MINIMUM, as_index_dtype(index_dtype), device)


def sort(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: bool = False,
    stable: bool = True,
    device: Device | None = None,
) -> Any:
    """The elements sorted along an axis, always stably; NaNs come last (first when descending).

    Raises as ``top_k`` does.
    """
    del stable  # every answer here is the stable one
    return _select(x, None, axis, Order.DESCENDING if descending else Order.ASCENDING, True, None, device)[0]


def argsort(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: bool = False,
    stable: bool = True,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
) -> Any:
    """The indices that sort along an axis, always stably: equal elements keep ascending order of index in both directions."""
    del stable
    return _select(x, None, axis, Order.DESCENDING if descending else Order.ASCENDING, False, as_index_dtype(index_dtype), device)[
        0
    ]


# ----------------------------------------------------------------------------


def _streams(x: Any, device: Device | None) -> bool:
    """Must the array go through the device block by block? (``wgdml.outofcore``)"""
    if isinstance(x, np.ndarray):
        if x.nbytes <= _SMALLEST_LARGEST_BUFFER:
            return False
        kept_whole = _KEPT_WHOLE if isinstance(x, np.memmap) else sys.maxsize
    elif not isinstance(x, Tensor) and hasattr(type(x), "chunks") and hasattr(x, "dtype"):  # as HDF5's and Zarr's data sets have
        kept_whole = _KEPT_WHOLE
    else:
        return False
    size = prod(x.shape) * x.dtype.itemsize
    limit = min(kept_whole, as_device(device).context.limits["max-buffer-size"])
    # Repeated elements make an array of any size: one that nobody can have meant to read to its end.
    return bool(limit < size) and not (isinstance(x, np.ndarray) and 0 in x.strides)


@dataclass(frozen=True)
class _Problem:
    """What a request means for its array: checked, with every number settled."""

    axes: tuple[int, ...]
    k: int
    order: Order
    last_index: bool
    rows: tuple[int, ...]  #: The shape of the result with the axes kept.
    shape: tuple[int, ...]  #: The shape that the caller gets.
    has_values: bool
    index_dtype: np.dtype[Any] | None


# Requests are what calls are kept under. As frozen dataclasses they would take 1 us more to make and to look up, of 10.


class _Select(NamedTuple):
    """The first k (all, for None) along an axis."""

    elements: Elements
    k: int | None
    axis: int
    order: Order
    has_values: bool
    index_dtype: np.dtype[Any] | None  #: None where indices are not wanted.

    def problem(self) -> _Problem:
        shape = self.elements.shape
        axis = as_axis(self.axis, len(shape))
        k = shape[axis] if self.k is None else as_k(self.k, shape[axis])
        result = (*shape[:axis], k, *shape[axis + 1 :])
        return _Problem((axis,), k, self.order, False, result, result, self.has_values, self.index_dtype)


class _Reduce(NamedTuple):
    """The index of the first pair over some axes (all, for None)."""

    elements: Elements
    axis: int | tuple[int, ...] | None
    keepdims: bool
    last_index: bool
    order: Order
    index_dtype: np.dtype[Any]

    def problem(self) -> _Problem:
        shape = self.elements.shape
        axes = as_axes(self.axis, shape)
        rows = tuple(1 if d in axes else n for d, n in enumerate(shape))
        result = rows if self.keepdims else tuple(n for d, n in enumerate(shape) if d not in axes)
        return _Problem(axes, 1, self.order, self.last_index, rows, result, False, self.index_dtype)


class _Output(NamedTuple):
    """One result of a call: its name in the plan, its data type and layout, and the size of a buffer for it."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    memory: int


@dataclass(frozen=True)
class _Call:
    """A request made ready: its plan and its results."""

    prepared: PreparedPlan | None  #: None where the results have no elements.
    outputs: tuple[_Output, ...]
    input_memory: int  #: Bytes of the buffer for an array.


def _select(
    x: ArrayLike | Tensor,
    k: int | None,
    axis: SupportsIndex,
    order: Order,
    has_values: bool,
    index_dtype: np.dtype[Any] | None,
    device: Device | None,
) -> list[Any]:
    """Values and indices of the first k (all, for None) along an axis; only those that are wanted."""
    operand, elements, executor = _operand(x, device)
    # Exact types, as True and 1.0 have the hash of 1.
    axis = axis if type(axis) is int else as_int("axis", axis)
    return _run(operand, executor, _Select(elements, k, axis, order, has_values, index_dtype))


def _arg(
    x: ArrayLike | Tensor,
    axis: SupportsIndex | Sequence[SupportsIndex] | None,
    keepdims: bool,
    last_index: bool,
    order: Order,
    index_dtype: np.dtype[Any],
    device: Device | None,
) -> Any:
    """The index of the first pair over some axes."""
    if _streams(x, device):
        from . import outofcore

        function = outofcore.argmax if order is Order.MAXIMUM else outofcore.argmin
        return function(
            cast("outofcore.Source", x),
            axis=axis,
            keepdims=keepdims,
            select_last_index=last_index,
            index_dtype=index_dtype,
            device=device,
        )
    operand, elements, executor = _operand(x, device)
    axis = axis if axis is None or type(axis) is int else as_ints("axis", axis)
    return _run(operand, executor, _Reduce(elements, axis, bool(keepdims), bool(last_index), order, index_dtype))[0]


def _operand(x: ArrayLike | Tensor, device: Device | None) -> tuple[Tensor | NDArray[Any], Elements, Executor]:
    """A Tensor, or a NumPy array that is not uploaded yet; what a plan depends on of it; and the device to work on."""
    if isinstance(x, Tensor):
        if device is not None:
            x = asarray(x, device=device)
        return x, bound(x).elements, x.device
    array = as_numpy(x)
    return array, Elements(array.dtype, array.shape), as_device(device)


def _run(x: Tensor | NDArray[Any], device: Executor, request: _Select | _Reduce) -> list[Any]:
    """Tensors from a Tensor, arrays from an array."""
    context = device.context
    if context.gone is not None:
        context.check()
    call: _Call | None = device.kept.get(request)
    if call is None:
        call = _prepare(device, request.elements, request.problem())
        device.kept.put(request, call)
    return _run_on_tensor(x, device, call) if isinstance(x, Tensor) else _run_on_array(x, device, call)


def _prepare(device: Executor, x: Elements, problem: _Problem) -> _Call:
    size = prod(x.shape)
    if size > _LARGEST:
        raise ValueError(f"x has {size} elements; a tensor has at most {_LARGEST}")
    input_memory = device.buffers.class_of("x", size * x.dtype.itemsize) if x.strides is None else 0
    outputs: list[_Output] = []
    for name, dtype in (("values", x.dtype if problem.has_values else None), ("indices", problem.index_dtype)):
        if dtype is not None:
            memory = device.buffers.class_of(f"the result's {name}", prod(problem.shape) * dtype.itemsize)
            outputs.append(_Output(name, dtype, problem.shape, packed_strides(problem.shape), memory))
    if not prod(problem.shape):
        return _Call(None, tuple(outputs), input_memory)
    packed = Layout(problem.rows or (1,), packed_strides(problem.rows or (1,)))
    strides = packed_strides(x.shape) if x.strides is None else x.strides
    selection = make_selection(
        element_name(x.dtype),
        Layout(x.shape, strides) if x.shape else Layout((1,), (1,)),
        problem.axes or (0,),
        problem.k,
        problem.order,
        values=packed if problem.has_values else None,
        indices=None if problem.index_dtype is None else packed,
        index_bytes=4 if problem.index_dtype is None else problem.index_dtype.itemsize,
        last_index=problem.last_index,
    )
    return _Call(device.place(selection, Placement(x.vectors, input=x.rest)), tuple(outputs), input_memory)


def _run_on_tensor(x: Tensor, device: Executor, call: _Call) -> list[Tensor]:
    source = bound(x)
    resources = {"input": (source.buffer, source.start)}
    results = []
    for name, dtype, shape, strides, size in call.outputs:
        memory = device.buffers.allocate_class(size)
        resources[name] = memory.buffer, 0
        results.append(new_tensor(device, memory.buffer, dtype, shape, strides, 0, memory))
    if call.prepared is not None:
        check_alive("x", x)
        device.run(call.prepared, resources)
    return results


def _run_on_array(x: NDArray[Any], device: Executor, call: _Call) -> list[NDArray[Any]]:
    if call.prepared is None:
        return [np.empty(output.shape, output.dtype) for output in call.outputs]
    memories = [device.buffers.allocate_class(call.input_memory)]
    resources = {"input": (memories[0].buffer, 0)}
    spans = []
    for name, dtype, shape, _, size in call.outputs:
        memory = device.buffers.allocate_class(size)
        memories.append(memory)
        resources[name] = memory.buffer, 0
        spans.append(Span(memory.buffer, 0, shape, dtype))
    device.transfers.write(np.ascontiguousarray(x), memories[0].buffer)
    return device.run_and_read(call.prepared, resources, spans)
