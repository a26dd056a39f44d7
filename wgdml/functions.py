"""The functions: NumPy arrays or Tensors in, the same kind out, after the Python array API standard's signatures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .runtime.device import Device, PreparedPlan, default_device
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

    ``x`` has any shape with at least one dimension; ``values`` has x's data type and bits, ``indices`` ``index_dtype`` (int64, int32,
    uint64 or uint32). Largest come in descending, smallest in ascending order; equal elements (-0.0 and 0.0; all NaNs) in
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
    return TopKResult(*_select(x, k, axis, order, True, True, index_dtype, device))


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
    return _arg(x, axis, keepdims, select_last_index, Order.MAXIMUM, index_dtype, device)


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
    return _arg(x, axis, keepdims, select_last_index, Order.MINIMUM, index_dtype, device)


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
    return _select(x, None, axis, Order.DESCENDING if descending else Order.ASCENDING, True, False, "int64", device)[0]


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
    return _select(x, None, axis, Order.DESCENDING if descending else Order.ASCENDING, False, True, index_dtype, device)[1]


# ----------------------------------------------------------------------------


_INDEX_DTYPES: dict[Any, np.dtype[Any]] = {}
for _name in ("int64", "int32", "uint64", "uint32"):
    _dtype = np.dtype(_name)
    _INDEX_DTYPES |= {_name: _dtype, _dtype: _dtype, _dtype.type: _dtype}


def _index_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    found = _INDEX_DTYPES.get(dtype)
    if found is None:
        try:
            found = _INDEX_DTYPES.get(np.dtype(dtype))
        except TypeError:
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


def _input(x: ArrayLike | Tensor, device: Device | None) -> Tensor | NDArray[Any]:
    """A Tensor, or a checked NumPy array that is not uploaded yet."""
    if isinstance(x, Tensor):
        return asarray(x, device=device)
    return as_numpy(x)


def _axis(axis: SupportsIndex, ndim: int) -> int:
    number = _int("axis", axis)
    if not -ndim <= number < ndim:
        raise ValueError(f"axis must lie in [{-ndim}, {ndim - 1}] for {ndim} dimensions, not {number}")
    return number % ndim


def _check_size(x: Tensor | NDArray[Any]) -> None:
    if x.size > _LARGEST:
        raise ValueError(f"x has {x.size} elements; a tensor has at most {_LARGEST}")


_T = TypeVar("_T")


@overload
def _like(x: Tensor, result: Tensor) -> Tensor: ...
@overload
def _like(x: NDArray[Any], result: Tensor) -> NDArray[Any]: ...
def _like(x: Any, result: Tensor) -> Any:
    return result if isinstance(x, Tensor) else result.numpy()


def _select(
    x_in: ArrayLike | Tensor,
    k_in: SupportsIndex | None,
    axis_in: SupportsIndex,
    order: Order,
    has_values: bool,
    has_indices: bool,
    index_dtype_in: DTypeLike,
    device: Device | None,
) -> tuple[Any, Any]:
    x = _input(x_in, device)
    index_dtype = _index_dtype(index_dtype_in)
    if not x.ndim:
        raise ValueError("x must have at least one dimension")
    axis = _axis(axis_in, x.ndim)
    length = x.shape[axis]
    k = length if k_in is None else _int("k", k_in)
    if k < 0:
        raise ValueError(f"k must not be negative, not {k}")
    if k > length:
        raise ValueError(f"k must be at most the axis's size of {length}, not {k}")
    _check_size(x)
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    t = asarray(x, device=device)
    values = Tensor._empty(t.device, t.dtype, shape) if has_values else None
    indices = Tensor._empty(t.device, index_dtype, shape) if has_indices else None
    if prod(shape):
        _run(t, (axis,), k, order, values, indices, False, shape)
    return (None if values is None else _like(x, values)), (None if indices is None else _like(x, indices))


def _arg(
    x_in: ArrayLike | Tensor,
    axis_in: SupportsIndex | Sequence[SupportsIndex] | None,
    keepdims: bool,
    last_index: bool,
    order: Order,
    index_dtype_in: DTypeLike,
    device: Device | None,
) -> Any:
    if _streams(x_in, device):
        from . import outofcore

        function = outofcore.argmax if order is Order.MAXIMUM else outofcore.argmin
        return function(
            cast("outofcore.Source", x_in),
            axis=axis_in,
            keepdims=keepdims,
            select_last_index=last_index,
            index_dtype=index_dtype_in,
            device=device,
        )
    x = _input(x_in, device)
    index_dtype = _index_dtype(index_dtype_in)
    if axis_in is None:
        axes = tuple(range(x.ndim))
    else:
        axes = tuple(_axis(a, x.ndim) for a in _ints("axis", axis_in))
        if not axes:
            raise ValueError("axis must name at least one axis, not ()")
        if len(set(axes)) < len(axes):
            raise ValueError(f"axis must name each axis once, not {axis_in!r}")
    if any(x.shape[a] == 0 for a in axes):
        raise ValueError(f"x of shape {x.shape} has nothing to reduce along axis {axis_in!r}")
    _check_size(x)
    kept = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
    shape = kept if keepdims else tuple(n for d, n in enumerate(x.shape) if d not in axes)
    t = asarray(x, device=device)
    result = Tensor._empty(t.device, index_dtype, shape)
    if prod(shape):
        _run(t, axes, 1, order, None, result, bool(last_index), kept)
    return _like(x, result)


def _run(
    t: Tensor,
    axes: tuple[int, ...],
    k: int,
    order: Order,
    values: Tensor | None,
    indices: Tensor | None,
    last_index: bool,
    shape: tuple[int, ...],
) -> None:
    """Runs one selection of ``t`` into new packed outputs of this shape."""
    aligned, rest = bind_offsets(t.offset, t.dtype.itemsize)
    end = t.offset + (1 + sum((n - 1) * s for n, s in zip(t.shape, t.strides, strict=True))) * t.dtype.itemsize
    vectors = fits_vectors(t.buffer, end)
    key = (
        t.dtype, t.shape, t.strides, rest, vectors, axes, k, order, last_index, values is None,
        None if indices is None else indices.dtype.itemsize,
    )  # fmt: skip

    def prepare() -> PreparedPlan:
        packed = Layout(shape, packed_strides(shape))
        selection = make_selection(
            element_name(t.dtype),
            Layout(t.shape, t.strides) if t.shape else Layout((1,), (1,)),
            axes or (0,),
            k,
            order,
            values=None if values is None else packed,
            indices=None if indices is None else packed,
            index_bytes=4 if indices is None else indices.dtype.itemsize,
            last_index=last_index,
        )
        return t.device.prepare(with_offsets(selection, input=rest), vectors=vectors, shared_input=False)

    resources: dict[str, tuple[Any, int]] = {"input": (t.buffer, aligned)}
    if values is not None:
        resources["values"] = values.buffer, 0
    if indices is not None:
        resources["indices"] = indices.buffer, 0
    t.device.run(t.device.kept(key, prepare), resources)
