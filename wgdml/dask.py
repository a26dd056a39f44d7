"""The selections but sorts, of Dask arrays (``pip install "wgdml[dask]"``).

Every chunk is reduced on the GPU to (value, global index) pairs, which ``dask.array.reduction``
merges in a tree. Ties are settled by index, as on the whole array.

The threaded scheduler shares the default device. Each worker of ``distributed`` has its own: what
``WGDML_ADAPTER`` names there, else the best adapters in turn by the worker's number.
"""

from __future__ import annotations

import builtins
import re
import threading
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

try:
    import dask.array as da
    from dask.core import flatten
except ImportError as missing:
    raise ImportError('wgdml.dask needs Dask\'s arrays: pip install "wgdml[dask]"') from missing

from .arguments import Axes, Nan, as_axes, as_axis, as_dtype, as_flag, as_index_dtype, as_int, as_k, as_order, check_block, with_nan
from .contract import check_holds
from .results import TopKResult
from .running import running_of
from .runtime.adapter import environment_names_adapter, equal_adapters
from .runtime.device import Device, default_device
from .runtime.process import locked
from .runtime.tensor import as_numpy, to_numpy
from .selection import Order

__all__ = ["argmax", "argmin", "max", "min", "top_k", "worker_device"]


def top_k(
    x: Any,
    k: SupportsIndex,
    /,
    *,
    axis: SupportsIndex = -1,
    mode: Literal["largest", "smallest"] = "largest",
    nan: Nan = "greatest",
    index_dtype: DTypeLike = "int64",
    split_every: int | None = None,
) -> TopKResult:
    """``wgdml.top_k`` of a Dask array: two, computed together by ``dask.compute(*result)``.

    ``split_every``: how many chunks' pairs are merged at once (Dask's default: 4). Raises as
    ``wgdml.top_k`` does, and ``ValueError`` where the size of a chunk is not known.
    """
    array = _checked(x)
    order = as_order(mode, nan)
    along = as_axis(axis, array.ndim)
    pick = _Pick((along,), array.shape, array.dtype, as_k(k, array.shape[along]), order)
    values, indices = _reduce(array, pick, True, as_index_dtype(index_dtype), split_every)
    return TopKResult(values, indices)


def argmax(
    x: Any,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    nan: Nan = "greatest",
    index_dtype: DTypeLike = "int64",
    split_every: int | None = None,
) -> Any:
    """``wgdml.argmax`` of a Dask array: a Dask array. ``split_every`` as of ``top_k`` here."""
    return _first(x, with_nan(Order.MAXIMUM, nan), axis, keepdims, select_last_index, False, index_dtype, split_every)[1]


def argmin(
    x: Any,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    nan: Nan = "greatest",
    index_dtype: DTypeLike = "int64",
    split_every: int | None = None,
) -> Any:
    """``wgdml.argmin`` of a Dask array: a Dask array. ``split_every`` as of ``top_k`` here."""
    return _first(x, with_nan(Order.MINIMUM, nan), axis, keepdims, select_last_index, False, index_dtype, split_every)[1]


def max(
    x: Any,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    nan: Nan = "greatest",
    return_indices: bool = False,
    index_dtype: DTypeLike = "int64",
    split_every: int | None = None,
) -> Any:
    """``wgdml.max`` of a Dask array: a Dask array, or two. ``split_every`` as of ``top_k`` here."""
    both = as_flag("return_indices", return_indices)
    found = _first(x, with_nan(Order.MAXIMUM, nan), axis, keepdims, False, True, index_dtype, split_every)
    return TopKResult(*found) if both else found[0]


def min(
    x: Any,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    nan: Nan = "greatest",
    return_indices: bool = False,
    index_dtype: DTypeLike = "int64",
    split_every: int | None = None,
) -> Any:
    """``wgdml.min`` of a Dask array: a Dask array, or two. ``split_every`` as of ``top_k`` here."""
    both = as_flag("return_indices", return_indices)
    found = _first(x, with_nan(Order.MINIMUM, nan), axis, keepdims, False, True, index_dtype, split_every)
    return TopKResult(*found) if both else found[0]


_worker_devices: dict[int, Device] = {}
_worker_lock = threading.Lock()


def worker_device() -> Device:
    """The default device; in a worker without ``WGDML_ADAPTER`` the adapter of its number."""
    number = None if environment_names_adapter() else _worker_number()
    if number is None:
        return default_device()
    return locked(_worker_lock, _numbered_device, number)


def _numbered_device(number: int) -> Device:
    if number not in _worker_devices:
        adapters = equal_adapters()
        if len(adapters) < 2:
            return default_device()
        _worker_devices[number] = Device(adapter=adapters[number % len(adapters)])
    return _worker_devices[number]


def _worker_number() -> int | None:
    """The number in the name of the worker that runs this task: 0, 1, ... in a LocalCluster."""
    try:
        from distributed import get_worker

        name = str(get_worker().name)
    except (ImportError, ValueError):
        return None
    # A worker without a name has its address, which ends with a port.
    digits = None if ":" in name else re.search(r"\d+$", name)
    return int(digits.group()) if digits else None


class _Pairs(NamedTuple):
    """Pairs of a chunk's sequences, along the last dimension. Indices are the whole array's."""

    values: NDArray[Any]
    indices: NDArray[Any]

    def part(self, number: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        return self[number].astype(dtype, copy=False)


@dataclass(frozen=True)
class _Pick:
    """Which pairs are kept of a chunk, and of several chunks together. Sent to the workers."""

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    k: int
    order: Order
    last: bool = False

    def first(self, items: NDArray[Any], indices: NDArray[Any] | None = None) -> _Pairs:
        """The first k along the last dimension, or all."""
        k = builtins.min(self.k, items.shape[-1])
        if not k:
            return _Pairs(items, np.empty(items.shape, np.int64))
        running = running_of(k, items.dtype, items.shape[:-1], self.order, self.last, worker_device())
        running.update(items, indices)
        return _Pairs(*to_numpy(*running.result()))

    def chunk(self, block: Any, block_info: Any = None) -> _Pairs:
        place, block = block_info[0]["array-location"], as_numpy(block)
        check_block(block, self.dtype, tuple(end - start for start, end in place))
        batch = [d for d in range(block.ndim) if d not in self.axes]
        sizes = [block.shape[a] for a in self.axes]
        found = self.first(block.transpose(*batch, *self.axes).reshape([*(block.shape[d] for d in batch), prod(sizes)]))
        index = np.zeros(found.indices.shape, np.int64)
        for axis, position in zip(self.axes, np.unravel_index(found.indices, sizes), strict=True):
            index = index * self.shape[axis] + position + place[axis][0]
        return _Pairs(found.values, index)

    def same(self, pairs: _Pairs, axis: Any, keepdims: bool) -> _Pairs:
        return pairs

    def combine(self, parts: Any, axis: Any, keepdims: bool) -> _Pairs:
        several = flatten([parts], container=list)
        pairs = _Pairs(*(np.concatenate(arrays, -1) for arrays in zip(*several, strict=True)))
        if len(self.axes) > 1:
            # Chunks of a flattened index interleave: only sorted by index do ties fall to it.
            order = np.argsort(pairs.indices, -1)
            pairs = _Pairs(*(np.take_along_axis(a, order, -1) for a in pairs))
        return self.first(*pairs)

    def aggregate(self, parts: Any, axis: Any, keepdims: bool) -> _Pairs:
        pairs = self.combine(parts, axis, keepdims)
        if len(self.axes) == 1 and keepdims:
            return _Pairs(*(np.moveaxis(a, -1, self.axes[0]) for a in pairs))
        pairs = _Pairs(*(a[..., 0] for a in pairs))
        return _Pairs(*(np.expand_dims(a, self.axes) for a in pairs)) if keepdims else pairs


def _checked(x: Any) -> Any:
    try:
        # Dask cuts everything that has a shape, a Tensor too, which is read first.
        array = x if isinstance(x, da.Array) else da.asarray(x if hasattr(x, "__getitem__") else as_numpy(x))
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        raise TypeError(f"x cannot become a Dask array: {error}") from None
    if any(np.isnan(n) for n in array.shape):
        raise ValueError(f"x has chunks of unknown size {array.chunks}: compute_chunk_sizes() finds them")
    return array.astype(as_dtype(array.dtype, "x.dtype", swapped=True))


def _first(
    x: Any, order: Order, axis: Axes, keepdims: bool, last: bool, has_values: bool, index_dtype: DTypeLike, split_every: int | None
) -> tuple[Any, Any]:
    """The value and the index of the first pair."""
    array = _checked(x)
    keeps, last = as_flag("keepdims", keepdims), as_flag("select_last_index", last)
    axes, dtype = as_axes(axis, array.shape, has_values), as_index_dtype(index_dtype)
    if not axes:
        return array, da.zeros(array.shape, chunks=array.chunks, dtype=dtype)
    return _reduce(array, _Pick(axes, array.shape, array.dtype, 1, order, last), keeps, dtype, split_every)


def _reduce(array: Any, pick: _Pick, keepdims: bool, index_dtype: np.dtype[Any], split_every: int | None) -> tuple[Any, Any]:
    """The values and the indices that are left of the array, k along a reduced axis."""
    check_holds("index_dtype", index_dtype, prod(pick.shape[a] for a in pick.axes))
    if split_every is not None:
        if as_int("split_every", split_every) < 2:
            raise ValueError(f"split_every must be at least 2, not {split_every}")
        split_every = builtins.min(int(split_every), builtins.max(2, array.npartitions))
    if not pick.k:
        # Dask's own chunks come of a division by what a chunk holds, and there is nothing.
        chunks = tuple((0,) if d in pick.axes else sizes for d, sizes in enumerate(array.chunks))
        values, indices = (da.empty(tuple(map(sum, chunks)), chunks=chunks, dtype=dtype) for dtype in (array.dtype, index_dtype))
        return values, indices
    anything = np.empty((0,) * array.ndim, object)
    pairs = array.map_blocks(pick.chunk, dtype=object, meta=anything)
    found = da.reduction(
        pairs,
        chunk=pick.same,
        combine=pick.combine,
        aggregate=pick.aggregate,
        axis=pick.axes,
        keepdims=keepdims,
        concatenate=False,
        output_size=pick.k,
        split_every=split_every,
        dtype=object,
        meta=np.empty((0,) * (array.ndim if keepdims else array.ndim - len(pick.axes)), object),
    )
    values, indices = (
        found.map_blocks(partial(_Pairs.part, number=n, dtype=dtype), dtype=dtype, meta=np.empty((0,) * found.ndim, dtype))
        for n, dtype in enumerate((array.dtype, index_dtype))
    )
    return values, indices
