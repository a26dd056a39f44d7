"""Elements at given ranks, exact to the bit: k-th values, partitions, medians and quantiles.

The pairs at the ranks are found in few reads (``wgdml.plan.ranks``). Only short sequences are
sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .arguments import (
    Axes,
    as_axes,
    as_axis,
    as_flag,
    as_index_dtype,
    as_omit,
    as_order,
    as_parts,
    as_quantiles,
    as_rank,
    check_size,
    element_name,
)
from .contract import check_holds
from .functions import argsort, sort, take_along_axis
from .lines import batch_of, line_selection
from .plan import Plan
from .plan.algorithms.rank_table import Ranks
from .plan.ranks import MOST_PARTED, numbers_plan, own_ranks, partition_plan, rank_words, ranks_plan
from .quantiles import middle, places
from .results import TopKResult
from .runtime.buffers import Memory
from .runtime.device import Device
from .runtime.executor import Executor
from .runtime.tensor import Tensor, as_numpy, asarray, bound, check_alive, native_array, packed_tensor, resources_of
from .selection import FORMATS, Layout, Order, Selection, make_selection

_Array = NDArray[Any]
#: Of a row that is kept. Longer ones are rarely asked for again, and would fill the memory.
_KEPT_RANKS = 1024


def kth_value(
    x: ArrayLike | Tensor,
    k: SupportsIndex,
    /,
    *,
    axis: SupportsIndex = -1,
    mode: Literal["largest", "smallest"] = "smallest",
    keepdims: bool = False,
    nan: Literal["greatest", "last"] = "greatest",
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
) -> TopKResult:
    """The k-th smallest (or largest) element along an axis, and where it is; k counts from 1.

    It is what ``top_k`` has at the last of its k places: of equal elements the index decides, and
    ``nan`` says as there where NaN comes. ``values`` has x's data type and bits, ``indices`` has
    ``index_dtype``; both have x's shape without the axis (of size 1 with ``keepdims``). The
    signature is that of PyTorch's ``kthvalue``, with ``mode`` after ``top_k``.

    Raises ``ValueError`` for an axis out of range, a k outside [1, the axis's size], an unknown
    mode or ``nan``; ``TypeError`` for data types without an order.
    """
    order, dtype, keeps = as_order(mode, nan), as_index_dtype(index_dtype), as_flag("keepdims", keepdims)
    given = _operand(x)
    along = as_axis(axis, len(given.shape))
    rank = as_rank(k, given.shape[along])
    check_holds("index_dtype", dtype, given.shape[along])
    source = asarray(given, device=device)
    found = _pairs(source, (along,), np.array([rank]), order, dtype)
    shape = batch_of(source.shape, (along,), keeps)
    return TopKResult(*(_like(x, part.reshape(shape), source.device) for part in found))


def partition(
    x: ArrayLike | Tensor,
    kth: SupportsIndex | Sequence[SupportsIndex],
    /,
    axis: SupportsIndex | None = -1,
    kind: Literal["introselect"] = "introselect",
    *,
    device: Device | None = None,
) -> Any:
    """The elements along an axis with those at ``kth`` where a sort would put them.

    What comes before such a place is no greater, what follows is no less. Elements between two of
    up to 127 places keep their order, which NumPy does not promise. NaN comes last. Negative
    ``kth`` count from the end; ``axis=None`` takes all elements as one sequence. The signature is
    NumPy's.

    Raises ``ValueError`` for an axis or a kth out of range, another kind, and with ``axis=None``
    for a Tensor that needs a copy, as a transposed one; ``TypeError`` for data types without an
    order.
    """
    return _parted(x, kth, axis, kind, None, device)


def argpartition(
    x: ArrayLike | Tensor,
    kth: SupportsIndex | Sequence[SupportsIndex],
    /,
    axis: SupportsIndex | None = -1,
    kind: Literal["introselect"] = "introselect",
    *,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
) -> Any:
    """The indices that part along an axis: of the elements that ``partition`` gives there.

    Of equal elements the index decides. Raises as ``partition`` does.
    """
    return _parted(x, kth, axis, kind, as_index_dtype(index_dtype), device)


def median(
    x: ArrayLike | Tensor,
    /,
    axis: Axes = None,
    *,
    keepdims: bool = False,
    nan: Literal["propagate", "omit"] = "propagate",
    device: Device | None = None,
) -> Any:
    """The median over an axis, several or all of them, as ``numpy.median`` computes it.

    The one or two elements in the middle are exact; their mean is NumPy's, with its data type:
    x's for floats, float64 for integers (float32's, rounded, for bfloat16). With ``nan="omit"`` it
    is ``numpy.nanmedian``: of the numbers alone, and NaN where there are none. A Tensor gives a
    Tensor; the mean of its two elements is computed by the host, which waits for them.

    Raises ``ValueError`` for axes out of range or repeated, nothing to reduce, an unknown ``nan``;
    ``TypeError`` for data types without an order.
    """
    omits = as_omit(nan)
    given, axes, keeps = _reduction(x, axis, keepdims)
    source = asarray(given, device=device)
    counts: _Array = np.array([prod(source.shape[a] for a in axes)])
    if omits and _has_nan(source):
        counts = _counts(source, axes)
    a, b = _neighbours(source, axes, (counts - 1) // 2, counts // 2, not omits)
    result = _in_float(source, lambda a, b: middle(a, b, counts % 2 == 1), a, b)
    return _like(x, result.reshape(batch_of(source.shape, axes, keeps)), source.device)


def quantile(
    x: ArrayLike | Tensor,
    q: ArrayLike,
    /,
    axis: Axes = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    nan: Literal["propagate", "omit"] = "propagate",
    device: Device | None = None,
) -> Any:
    """Quantiles over an axis, several or all of them, as ``numpy.quantile`` computes them.

    ``q``: numbers in [0, 1], of any shape, which comes first in the result's. ``method``: one of
    NumPy's. Those that pick an element ("inverted_cdf", "closest_observation", "lower", "higher",
    "nearest") give its bits and x's data type. The others interpolate between the two exact
    neighbours with NumPy's arithmetic and data type (float32's, rounded, for bfloat16). A
    sequence with NaN gives NaN; with ``nan="omit"`` it is ``numpy.nanquantile``. A Tensor gives a
    Tensor. The host computes, and waits for the neighbours, where it interpolates or omits.

    Raises ``ValueError`` for q outside [0, 1] or NaN, an unknown method or ``nan``, axes out of
    range or repeated, nothing to reduce; ``TypeError`` for data types without an order, and for
    bool where a method interpolates.
    """
    omits = as_omit(nan)
    wanted, weak = as_quantiles(native_array(q, "q"), method), type(q) in (int, float)
    if isinstance(x, Tensor) and wanted.itemsize > 8:
        raise TypeError(f"q must have at most 64 bits with a Tensor, whose result would have its data type, not {wanted.dtype}")
    given, axes, keeps = _reduction(x, axis, keepdims)
    counts: Any = prod(given.shape[a] for a in axes)
    at = places(method, counts, wanted.reshape(-1), weak)
    if at.weight is not None and given.dtype == np.bool_:
        raise TypeError(f"x must not be bool for method {method!r}, which subtracts")
    source = asarray(given, device=device)
    omits = omits and _has_nan(source)
    if omits:
        counts = _counts(source, axes)
        at = places(method, counts if counts.ndim > 1 else int(counts[0]), wanted.reshape(-1), weak)
    found: Any
    if at.weight is None and isinstance(x, Tensor) and not omits:
        found = _picked(source, axes, at.before)
        found = found.transpose(found.ndim - 1, *range(found.ndim - 1))
    else:
        found = _in_float(source, at.between, *_neighbours(source, axes, at.before, at.after, not omits))
        found = np.moveaxis(found, -1, 0)
    return _like(x, found.reshape(wanted.shape + batch_of(source.shape, axes, keeps)), source.device)


# ----------------------------------------------------------------------------


def _reduction(x: Any, axis: Axes, keepdims: bool) -> tuple[Any, tuple[int, ...], bool]:
    """What is reduced, over which axes, and whether they are kept."""
    keeps = as_flag("keepdims", keepdims)
    given = _operand(x)
    return given, as_axes(axis, given.shape), keeps


def _operand(x: Any) -> Tensor | _Array:
    given = x if isinstance(x, Tensor) else as_numpy(x)
    check_size(given.shape)
    return given


def _like(x: Any, result: Any, device: Executor) -> Any:
    """A Tensor where x is one, else an array."""
    if isinstance(x, Tensor):
        return asarray(result, device=device)
    return result.numpy() if isinstance(result, Tensor) else result


def _has_nan(x: Tensor) -> bool:
    return FORMATS[element_name(x.dtype)].minus > 0


def _in_float(x: Tensor, compute: Callable[[_Array, _Array], _Array], a: _Array, b: _Array) -> _Array:
    """What NumPy computes; bfloat16, which it has no arithmetic for, in float32."""
    # An infinite neighbour gives NaN, without a warning here. As a decorator NumPy 1's would be all
    # threads'.
    with np.errstate(all="ignore"):
        if x.dtype.name != "bfloat16":
            return compute(a, b)
        return compute(a.astype(np.float32), b.astype(np.float32)).astype(x.dtype)


def _words(
    x: Tensor, selection: Selection, ranks: NDArray[np.int64], *, propagates: bool = False, positions: bool = True
) -> tuple[Memory, Ranks]:
    """Ascending ranks on the device, one row of them or one a sequence, and what a plan knows.

    One row is kept, not as a Tensor: a device that keeps one would keep itself. ``propagates``:
    with the last element, whose NaN is the result. ``positions``: which of equal elements they are
    counts.
    """
    device, vectors = x.device, bound(x).elements.vectors
    if ranks.ndim > 1:
        return _uploaded(device, ranks), own_ranks(device.planner, selection)
    row = (*ranks.tolist(), *([selection.length - 1] if propagates else []))
    options = {"propagates": propagates, "positions": positions, "vectors": vectors}
    key = "ranks", row, selection, *options.values()
    kept: tuple[Memory, Ranks] | None = device.kept.get(key)
    if kept is None:
        words, known = rank_words(device.planner, selection, row, **options)
        kept = _uploaded(device, words), known
        if len(row) <= _KEPT_RANKS:
            device.kept.put(key, kept)
    return kept


def _uploaded(device: Executor, ranks: ArrayLike) -> Memory:
    words = np.ascontiguousarray(ranks, np.uint32)
    memory = device.buffers.allocate("the ranks", words.nbytes)
    device.transfers.write(words, memory.buffer)
    return memory


def _run(
    x: Tensor,
    selection: Selection,
    make: Callable[..., Plan],
    options: tuple[Any, ...],
    ranks: Memory | None = None,
    **results: Tensor,
) -> None:
    """Runs a plan that ``make`` makes of a planner, a selection and options, on x, to results."""
    device, vectors = x.device, bound(x).elements.vectors
    check_alive("x", x)
    key = make, selection, options, vectors
    prepared = device.prepare_plan(key, lambda: make(device.planner, selection, *options, vectors=vectors))
    given = {} if ranks is None else {"ranks": (ranks.buffer, 0)}
    device.run(prepared, {**resources_of({"input": x, **results}), **given})


def _pairs(
    x: Tensor,
    axes: tuple[int, ...],
    ranks: NDArray[np.int64],
    order: Order,
    index_dtype: np.dtype[Any] | None = None,
    propagate: bool = False,
) -> list[Tensor]:
    """Values, and indices if wanted, at ascending ranks: one row of them, or one a sequence."""
    k = ranks.shape[-1]
    shape = (*batch_of(x.shape, axes), k)
    results = {"values": packed_tensor(x.device, x.dtype, shape, "the result")}
    if index_dtype is not None:
        results["indices"] = packed_tensor(x.device, index_dtype, shape, "the result")
    if prod(shape):
        index_bytes = 0 if index_dtype is None else index_dtype.itemsize
        selection = line_selection(x, axes, k, order, has_values=True, index_bytes=index_bytes)
        # Of floats, zeros that are equal have two signs, and NaN many bits.
        floats = _has_nan(x)
        positions = index_dtype is not None or floats
        words, known = _words(x, selection, ranks, propagates=propagate and floats, positions=positions)
        _run(x, selection, ranks_plan, (known,), ranks=words, **results)
    return list(results.values())


def _counts(x: Tensor, axes: tuple[int, ...]) -> NDArray[np.int64]:
    """How many numbers each sequence has, or 1: [sequence, 1], or one alone if all are alike.

    Ranks that are the same for all sequences take less time.
    """
    found = asarray(np.zeros(batch_of(x.shape, axes), np.uint32), device=x.device)
    if found.size:
        _run(x, line_selection(x, axes, 1, Order.ASCENDING), numbers_plan, (), numbers=found)
    counts = np.maximum(found.numpy().astype(np.int64), 1)
    return counts.reshape(-1)[:1] if counts.size and counts.min() == counts.max() else counts.reshape(-1, 1)


def _neighbours(
    x: Tensor, axes: tuple[int, ...], before: NDArray[np.int64], after: NDArray[np.int64], propagate: bool
) -> tuple[_Array, _Array]:
    """The elements at ranks, one row of them or one a sequence: [sequence, rank] on the host."""
    both = np.concatenate([before, after], -1)
    if both.ndim == 1:
        ranks, inverse = np.unique(both, return_inverse=True)
        found = _pairs(x, axes, ranks, Order.ASCENDING, None, propagate)[0].numpy()
        found = found.reshape(prod(found.shape[:-1]), ranks.size)[:, inverse]
    else:
        order = np.argsort(both, -1, kind="stable")
        found = _pairs(x, axes, np.take_along_axis(both, order, -1), Order.ASCENDING)[0].numpy().reshape(both.shape)
        found = np.take_along_axis(found, np.argsort(order, -1, kind="stable"), -1)
    count = before.shape[-1]
    return found[..., :count], found[..., count:]


def _picked(x: Tensor, axes: tuple[int, ...], places: NDArray[np.int64]) -> Tensor:
    """The elements at one row of ranks, on the device."""
    ranks, inverse = np.unique(places, return_inverse=True)
    (found,) = _pairs(x, axes, ranks, Order.ASCENDING, None, True)
    if np.array_equal(inverse, np.arange(ranks.size)):
        return found
    taken: Tensor = take_along_axis(found, inverse.reshape((1,) * (found.ndim - 1) + (-1,)))
    return taken


def _in_order_of_index(x: Tensor, axis: int, index_dtype: np.dtype[Any] | None) -> Tensor:
    """Values, or indices, of sequences that are one part."""
    places = np.arange(x.shape[axis], dtype=index_dtype).reshape(-1, *[1] * (len(x.shape) - axis - 1))
    everywhere = asarray(np.broadcast_to(places, x.shape), device=x.device)
    return everywhere if index_dtype is not None else take_along_axis(x, everywhere, axis=axis)


def _part(source: Tensor, along: int, ranks: np.ndarray, index_dtype: np.dtype[Any] | None, result: Tensor) -> None:
    """Puts the values, or indices, of a tensor with elements, parted at some ranks."""
    packed = Layout.packed(source.shape)
    selection = make_selection(
        element_name(source.dtype),
        bound(source).elements.layout,
        (along,),
        source.shape[along],
        Order.ASCENDING,
        values=packed if index_dtype is None else None,
        indices=None if index_dtype is None else packed,
        index_bytes=4 if index_dtype is None else index_dtype.itemsize,
    )
    words, known = _words(source, selection, ranks)
    name = "values" if index_dtype is None else "indices"
    _run(source, selection, partition_plan, (known,), ranks=words, **{name: result})


def _parted(x: Any, kth: Any, axis: Any, kind: str, index_dtype: np.dtype[Any] | None, device: Device | None) -> Any:
    """Values, or indices, parted at ranks."""
    if not isinstance(kind, str) or kind != "introselect":
        raise ValueError(f'kind must be "introselect", not {kind!r}')
    given = _operand(x)
    given = given if axis is not None else given.reshape(-1)
    along = as_axis(-1 if axis is None else axis, len(given.shape))
    ranks = as_parts(kth, given.shape[along])
    if index_dtype is not None:
        check_holds("index_dtype", index_dtype, given.shape[along])
    source = asarray(given, device=device)
    if not ranks and source.size:
        return _like(x, _in_order_of_index(source, along, index_dtype), source.device)
    if len(ranks) > MOST_PARTED:
        found = sort(source, axis=along) if index_dtype is None else argsort(source, axis=along, index_dtype=index_dtype)
        return _like(x, found, source.device)
    result = packed_tensor(source.device, index_dtype or source.dtype, source.shape, "the result")
    if source.size:
        _part(source, along, np.array(ranks), index_dtype, result)
    return _like(x, result, source.device)
