"""The functions: NumPy arrays or Tensors in, the same kind out, after the Python array API standard's signatures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal, NamedTuple, SupportsIndex, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .runtime.device import Device, PreparedPlan, default_device, device_of
from .runtime.operator import bind_offsets, fits_vectors, with_offsets
from .runtime.tensor import Tensor, _int, _ints, as_numpy, asarray, element_name, packed_strides
from .selection import Layout, Order, make_selection

__all__ = ["TopKResult", "argmax", "argmin", "argsort", "sort", "top_k"]

_LARGEST = 2**32 - 1  # elements, by the contract
_KEPT_WHOLE = 256 << 20  # bytes of a file that are worth the device's memory
_SMALLEST_LARGEST_BUFFER = 256 << 20  # bytes: the least that WebGPU lets a device have as its max-buffer-size


class TopKResult(NamedTuple):
    """The result of ``top_k``: both of the input's shape, with k along the axis."""

    values: Any
    indices: Any


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
    if mode not in ("largest", "smallest"):
        raise ValueError(f'mode must be "largest" or "smallest", not {mode!r}')
    if _streams(x, device):
        from . import outofcore

        source = cast("outofcore.Source", x)
        return outofcore.top_k(source, k, axis=axis, mode=mode, index_dtype=index_dtype, device=device)
    order = Order.DESCENDING if mode == "largest" else Order.ASCENDING
    if k is None:
        raise TypeError("k must be an integer, not None")
    return TopKResult(*_select(x, k, axis, order, True, _index_dtype(index_dtype), device))


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
    return _arg(x, axis, keepdims, select_last_index, Order.MAXIMUM, _index_dtype(index_dtype), device)


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
    return _arg(x, axis, keepdims, select_last_index, Order.MINIMUM, _index_dtype(index_dtype), device)


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
    return _select(x, None, axis, Order.DESCENDING if descending else Order.ASCENDING, False, _index_dtype(index_dtype), device)[0]


# ----------------------------------------------------------------------------


_INDEX_DTYPES: dict[Any, np.dtype[Any]] = {}
for _name in ("int64", "int32", "uint64", "uint32"):
    _dtype = np.dtype(_name)
    _INDEX_DTYPES |= {_name: _dtype, _dtype: _dtype, _dtype.type: _dtype}


def _index_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        found = _INDEX_DTYPES.get(dtype) or _INDEX_DTYPES.get(np.dtype(dtype))
    except (TypeError, ValueError, SyntaxError):  # NumPy parses strings
        found = None
    if found is None:
        raise TypeError(f"index_dtype must be int64, int32, uint64 or uint32, not {dtype!r}")
    return found


def _streams(x: Any, device: Device | None) -> bool:
    """Must the array go through the device block by block? (``wgdml.outofcore``)"""
    if not isinstance(device, Device | None):
        return False  # refused with the rest
    if isinstance(x, np.ndarray):
        if x.nbytes <= _SMALLEST_LARGEST_BUFFER:
            return False
        kept_whole = _KEPT_WHOLE if isinstance(x, np.memmap) else sys.maxsize
    elif not isinstance(x, Tensor) and hasattr(type(x), "chunks") and hasattr(x, "dtype"):  # as HDF5's and Zarr's data sets have
        kept_whole = _KEPT_WHOLE
    else:
        return False
    size = prod(x.shape) * x.dtype.itemsize
    limit = min(kept_whole, (device or default_device()).limits["max-buffer-size"])
    # Repeated elements make an array of any size: one that nobody can have meant to read to its end.
    return bool(limit < size) and not (isinstance(x, np.ndarray) and 0 in x.strides)


def _axis(axis: SupportsIndex, ndim: int) -> int:
    number = _int("axis", axis)
    if not -ndim <= number < ndim:
        raise ValueError(f"axis must lie in [{-ndim}, {ndim - 1}] for {ndim} dimensions, not {number}")
    return number % ndim


def _axes(axis: SupportsIndex | Sequence[SupportsIndex], ndim: int) -> tuple[int, ...]:
    axes = tuple(_axis(a, ndim) for a in _ints("axis", axis))
    if not axes:
        raise ValueError("axis must name at least one axis, not ()")
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis must name each axis once, not {axis!r}")
    return axes


def _check_size(x: Tensor | NDArray[Any]) -> None:
    if x.size > _LARGEST:
        raise ValueError(f"x has {x.size} elements; a tensor has at most {_LARGEST}")


class _Output(NamedTuple):
    """One result of a call: its role in the plan, its data type and layout, and the size of a buffer for it."""

    role: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    memory: int


class _Call(NamedTuple):
    """What a call comes to, kept under everything that it depends on."""

    prepared: PreparedPlan | None  # None where the results have no elements
    outputs: tuple[_Output, ...]
    input_memory: int  # size of the buffer for an array


_Select = tuple[int | None, int, Order, bool, np.dtype[Any] | None]
_Arg = tuple[tuple[int, ...] | int | None, bool, bool, Order, np.dtype[Any]]


def _select(
    x_in: ArrayLike | Tensor,
    k_in: SupportsIndex | None,
    axis_in: SupportsIndex,
    order: Order,
    has_values: bool,
    index_dtype: np.dtype[Any] | None,
    device: Device | None,
) -> list[Any]:
    """Values and indices of the first k (all, for None) along an axis; only those that are wanted."""
    x, device = _input(x_in, device)
    # Exact types, as True and 1.0 have the hash of 1.
    k = k_in if k_in is None or type(k_in) is int else _int("k", k_in)
    axis = axis_in if type(axis_in) is int else _int("axis", axis_in)
    return _run(x, device, _plan_select, (k, axis, order, has_values, index_dtype))


def _plan_select(x: Tensor | NDArray[Any], wanted: _Select) -> tuple[Any, ...]:
    k_in, axis_in, order, has_values, index_dtype = wanted
    if not x.ndim:
        raise ValueError("x must have at least one dimension")
    axis = _axis(axis_in, x.ndim)
    length = x.shape[axis]
    k = length if k_in is None else k_in
    if k < 0:
        raise ValueError(f"k must not be negative, not {k}")
    if k > length:
        raise ValueError(f"k must be at most the axis's size of {length}, not {k}")
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return (axis,), k, order, False, shape, shape, has_values, index_dtype


def _arg(
    x_in: ArrayLike | Tensor,
    axis_in: SupportsIndex | Sequence[SupportsIndex] | None,
    keepdims: bool,
    last_index: bool,
    order: Order,
    index_dtype: np.dtype[Any],
    device: Device | None,
) -> Any:
    """The index of the first pair over some axes."""
    if _streams(x_in, device):
        from . import outofcore

        function = outofcore.argmax if order is Order.MAXIMUM else outofcore.argmin
        return function(
            cast("outofcore.Source", x_in),
            axis=axis_in,
            keepdims=keepdims,
            select_last_index=last_index,
            index_dtype=index_dtype,
            device=device,
        )
    x, device = _input(x_in, device)
    axis = axis_in if axis_in is None or type(axis_in) is int else _ints("axis", axis_in)
    return _run(x, device, _plan_arg, (axis, bool(keepdims), bool(last_index), order, index_dtype))[0]


def _plan_arg(x: Tensor | NDArray[Any], wanted: _Arg) -> tuple[Any, ...]:
    axis, keepdims, last_index, order, index_dtype = wanted
    axes = tuple(range(x.ndim)) if axis is None else _axes(axis, x.ndim)
    if any(x.shape[a] == 0 for a in axes):
        raise ValueError(f"x of shape {x.shape} has nothing to reduce along axis {axis!r}")
    kept = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
    shape = kept if keepdims else tuple(n for d, n in enumerate(x.shape) if d not in axes)
    return axes, 1, order, last_index, kept, shape, False, index_dtype


def _input(x: ArrayLike | Tensor, device: Device | None) -> tuple[Tensor | NDArray[Any], Device]:
    """A Tensor, or a checked NumPy array that is not uploaded yet, and the device to work on."""
    if isinstance(x, Tensor):
        asarray(x, device=device)
        return x, x.device
    return as_numpy(x), device_of(device)


def _bound(x: Tensor) -> tuple[Any, ...]:
    """Where the tensor's binding starts, and all that a plan depends on; kept with the tensor."""
    item = x.dtype.itemsize
    start, rest = bind_offsets(x.offset, item)
    end = x.offset + (1 + sum((n - 1) * s for n, s in zip(x.shape, x.strides, strict=True))) * item
    x._bound = start, (x.dtype, x.shape, x.strides, rest, fits_vectors(x._buffer, end))
    return x._bound


def _run(x: Any, device: Device, plan: Callable[[Any, Any], tuple[Any, ...]], wanted: Any) -> list[Any]:
    """Runs the selection that ``plan`` makes of ``wanted``: Tensors from a Tensor, arrays from an array."""
    tensor = isinstance(x, Tensor)
    start, layout = (x._bound or _bound(x)) if tensor else (0, (x.dtype, x.shape))
    call = device.kept((layout, wanted), lambda: _make(x, device, layout, plan(x, wanted)))
    results: list[Any] = []
    if tensor:
        resources = {"input": (x._buffer, start)}
        for role, dtype, shape, strides, size in call.outputs:
            memory = device.allocate_class(size)
            resources[role] = memory.buffer, 0
            results.append(Tensor._make(device, memory.buffer, dtype, shape, strides, 0, memory))
        if call.prepared is not None:
            x._check_alive("x")
            device.run(call.prepared, resources)
        return results
    if call.prepared is None:
        return [np.empty(output.shape, output.dtype) for output in call.outputs]
    memories = [device.allocate_class(call.input_memory)]
    resources = {"input": (memories[0].buffer, 0)}
    for role, dtype, shape, _, size in call.outputs:
        memory = device.allocate_class(size)
        memories.append(memory)
        resources[role] = memory.buffer, 0
        results.append((memory.buffer, 0, shape, dtype))
    device.write(np.ascontiguousarray(x), memories[0].buffer)
    return device.read(results, (call.prepared, resources))


def _make(x: Tensor | NDArray[Any], device: Device, layout: tuple[Any, ...], planned: tuple[Any, ...]) -> _Call:
    # The buffers that arrays go to are long enough for vectors.
    rest, vectors = layout[3:] if isinstance(x, Tensor) else (0, True)
    axes, k, order, last_index, rows, shape, has_values, index_dtype = planned
    _check_size(x)
    source_memory = 0 if isinstance(x, Tensor) else device.class_of("x", x.nbytes)
    outputs: list[_Output] = []
    for role, dtype in (("values", x.dtype if has_values else None), ("indices", index_dtype)):
        if dtype is not None:
            size = prod(shape) * dtype.itemsize
            outputs.append(_Output(role, dtype, shape, packed_strides(shape), device.class_of(f"the result's {role}", size)))
    if not prod(shape):
        return _Call(None, tuple(outputs), source_memory)
    packed = Layout(rows or (1,), packed_strides(rows or (1,)))
    strides = x.strides if isinstance(x, Tensor) else packed_strides(x.shape)
    selection = make_selection(
        element_name(x.dtype),
        Layout(x.shape, strides) if x.shape else Layout((1,), (1,)),
        axes or (0,),
        k,
        order,
        values=packed if has_values else None,
        indices=None if index_dtype is None else packed,
        index_bytes=4 if index_dtype is None else index_dtype.itemsize,
        last_index=last_index,
    )
    prepared = device.prepare(with_offsets(selection, input=rest), vectors=vectors, shared_input=False)
    return _Call(prepared, tuple(outputs), source_memory)
