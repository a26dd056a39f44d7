"""The functions: NumPy arrays or Tensors in, the same kind out, after the array API standard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, NamedTuple, SupportsIndex, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .arguments import (
    MOST_ELEMENTS,
    Axes,
    Nan,
    as_axes,
    as_axis,
    as_dtype,
    as_flag,
    as_index_dtype,
    as_indices,
    as_int,
    as_ints,
    as_k,
    as_order,
    as_sizes,
    check_indices,
    check_size,
    element_name,
    taken_shape,
    with_nan,
)
from .besides import check_besides
from .contract import check_holds
from .lines import Wanted, batch_of
from .plan import Plan
from .plan.take import take_plan
from .results import SortResult, TopKResult
from .runtime.default import as_device
from .runtime.device import Device
from .runtime.executor import Executor, PreparedPlan
from .runtime.tensor import (
    Elements,
    Tensor,
    as_numpy,
    asarray,
    bound,
    check_alive,
    check_apart,
    check_gpu_device,
    check_out,
    integers_as_numpy,
    moved,
    native_array,
    new_tensor,
    on_device,
    packed_tensor,
    resources_of,
    to_numpy,
)
from .runtime.transfers import Span
from .selection import SPANS, Layout, Order, make_selection, packed_strides, take_selection

#: Bytes: the most of a file that are worth a device's memory.
_LONG = 256 << 20


def top_k(
    x: ArrayLike | Tensor,
    k: SupportsIndex,
    /,
    *,
    axis: SupportsIndex = -1,
    mode: Literal["largest", "smallest"] = "largest",
    sorted: bool = True,
    nan: Nan = "greatest",
    lengths: ArrayLike | Tensor | None = None,
    starts: ArrayLike | Tensor | None = None,
    counts: ArrayLike | Tensor | None = None,
    indices: ArrayLike | Tensor | None = None,
    longest: SupportsIndex | None = None,
    index_dtype: DTypeLike = "int64",
    out: Sequence[Tensor] | None = None,
    device: Device | None = None,
) -> TopKResult:
    """The k largest (or smallest) elements along an axis, sorted, and where they are.

    ``x`` has any shape with at least one dimension. ``values`` has x's data type and bits,
    ``indices`` has ``index_dtype`` (int64, int32, uint64 or uint32). The largest descend, the
    smallest ascend, and equal elements (-0.0 and 0.0; all NaNs) come in ascending order of index.
    k = 0 gives empty results. The signature is the array API standard's and NumPy 2.6's.

    ``sorted=False`` allows any order, which may differ from call to call. On GPUs k over 1024 is
    faster then.
    ``nan``: with "greatest", NaN is greater than every number; with "last", NaN comes after every
    number in both modes, as in NumPy 2.6. ``out``: two Tensors for values and indices, which are
    returned. They have the results' shapes and types, and any layout without overlap.

    ``lengths`` and ``starts`` say which items of each sequence take part, ``counts`` how many of
    the k are wanted: integers of x's shape without the axis, or what can be broadcast to it. Ranks
    without an item have index -1 and the type's last number in the order. Where x has one
    dimension, each start and length is a segment of it, and the results have their shape and k.
    ``longest`` promises that lengths in a Tensor are no longer. ``indices``: ids of 32 or 64 bits,
    integers or floats, which stand for positions; ``index_dtype`` is not looked at then. Ranks
    without an item have the id of all ones. The page on ragged rows says the rest.

    Raises ``ValueError`` for an axis out of range, k < 0 or k over the axis, an unknown mode or
    ``nan``, an ``index_dtype`` that does not hold the axis's last index, an ``out`` of another
    shape or device, or that overlaps ``x`` or itself, and for lengths, starts, counts and indices
    of other shapes, negative, beyond the axis or over k; ``TypeError`` for data types without an
    order, a ``sorted`` that is no bool, an ``out`` of another type, lengths, starts and counts that
    are no integers, and ids of other sizes; ``MemoryError`` where the device has no room.
    """
    order = as_order(mode, nan)
    in_order = as_flag("sorted", sorted)
    k = k if type(k) is int else as_int("k", k)
    beside = _given(lengths, starts, longest, counts, indices)
    return TopKResult(*_first(x, k, axis, order, True, as_index_dtype(index_dtype), out, device, beside, in_order))


def argmax(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    nan: Nan = "greatest",
    lengths: ArrayLike | Tensor | None = None,
    starts: ArrayLike | Tensor | None = None,
    longest: SupportsIndex | None = None,
    index_dtype: DTypeLike = "int64",
    out: Tensor | None = None,
    device: Device | None = None,
) -> Any:
    """The index of the first maximum over an axis, several or all of them.

    Several axes are flattened row-major in ascending order. NaN wins over every number, the first
    NaN over later ones. With ``nan="last"`` it wins only where all are NaN. ``select_last_index``
    takes the last of several equal ones. The result has x's shape without the reduced axes (of size
    1 with ``keepdims``) and data type ``index_dtype``. ``out``: a Tensor for it, as of ``top_k``.
    The signature is the array API standard's, which takes one axis; DirectML takes several.
    ``lengths``, ``starts`` and ``longest`` are as of ``top_k``, and count flattened positions of
    several axes. A sequence without items has index -1.

    Raises ``ValueError`` for axes out of range, repeated or empty, and where there is nothing to
    reduce; ``TypeError`` for data types without an order; for all else as ``top_k``.
    """
    beside = _given(lengths, starts, longest)
    return _reduced(Order.MAXIMUM, x, axis, keepdims, nan, index_dtype, out, device, last=select_last_index, beside=beside)


def argmin(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    nan: Nan = "greatest",
    lengths: ArrayLike | Tensor | None = None,
    starts: ArrayLike | Tensor | None = None,
    longest: SupportsIndex | None = None,
    index_dtype: DTypeLike = "int64",
    out: Tensor | None = None,
    device: Device | None = None,
) -> Any:
    """The index of the first minimum: as ``argmax``. NaN wins over every number here too.

    Raises as ``argmax`` does.
    """
    beside = _given(lengths, starts, longest)
    return _reduced(Order.MINIMUM, x, axis, keepdims, nan, index_dtype, out, device, last=select_last_index, beside=beside)


def max(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    nan: Nan = "greatest",
    return_indices: bool = False,
    index_dtype: DTypeLike = "int64",
    out: Tensor | Sequence[Tensor] | None = None,
    device: Device | None = None,
) -> Any:
    """The maximum over an axis, several or all: the element that ``argmax`` points at, bit for bit.

    So the first NaN wins, and of -0.0 and 0.0 the first one. With ``nan="last"`` NaN wins only
    where all are NaN. The result has x's data type, and x's shape without the reduced axes (of size
    1 with ``keepdims``). With ``return_indices`` it is a ``TopKResult`` of values and indices,
    found together and read with one wait; ``out`` is then two Tensors, else one. ``axis=()``
    reduces nothing, as in the array API standard.

    Raises as ``argmax`` does, and ``TypeError`` for a ``return_indices`` that is no bool.
    """
    return _reduced(Order.MAXIMUM, x, axis, keepdims, nan, index_dtype, out, device, True, return_indices)


def min(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: Axes = None,
    keepdims: bool = False,
    nan: Nan = "greatest",
    return_indices: bool = False,
    index_dtype: DTypeLike = "int64",
    out: Tensor | Sequence[Tensor] | None = None,
    device: Device | None = None,
) -> Any:
    """The minimum: as ``max``; the first NaN wins here too, as in NumPy.

    Raises as ``max`` does.
    """
    return _reduced(Order.MINIMUM, x, axis, keepdims, nan, index_dtype, out, device, True, return_indices)


def sort(
    x: ArrayLike | Tensor,
    payload: ArrayLike | Tensor | None = None,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: bool = False,
    stable: bool = True,
    nan: Nan = "greatest",
    lengths: ArrayLike | Tensor | None = None,
    out: Tensor | None = None,
    device: Device | None = None,
) -> Any:
    """The elements sorted along an axis, always stably.

    NaNs come last, and first when descending. With ``nan="last"`` they come last in both
    directions, as in NumPy 2.5. The result has x's shape and data type. ``out``: a Tensor for it,
    as of ``top_k``. ``lengths``: the first items of each sequence that are sorted, as of ``top_k``.
    The type's last number in the order fills the rest. The signature is the array API standard's.

    ``payload``: elements of 32 or 64 bits, of x's shape or what broadcasts to it, that go where
    their keys go. The result is then a ``SortResult`` of values and payload: arrays where both are
    arrays, else Tensors, and nothing comes back from the device. Beyond a length it is all ones.

    Raises as ``top_k`` does; ``TypeError`` for a ``descending`` or ``stable`` that is no bool, and
    for a payload of other sizes or without a dimension (``numpy.sort`` has the axis there);
    ``ValueError`` for one of another shape, and with an ``out``.
    """
    order = _sort_order(descending, stable, nan)
    if payload is not None and out is not None:
        raise ValueError("out must be None with a payload")
    found = _first(x, None, axis, order, True, None, out, device, _given(lengths=lengths, payload=payload))
    return found[0] if payload is None else SortResult(*found)


def argsort(
    x: ArrayLike | Tensor,
    /,
    *,
    axis: SupportsIndex = -1,
    descending: bool = False,
    stable: bool = True,
    nan: Nan = "greatest",
    lengths: ArrayLike | Tensor | None = None,
    index_dtype: DTypeLike = "int64",
    out: Tensor | None = None,
    device: Device | None = None,
) -> Any:
    """The indices that sort along an axis, always stably: ties ascend in both directions.

    The result has x's shape and data type ``index_dtype``. ``nan``, ``out``, ``lengths`` and errors
    as of ``sort``. Indices beyond a length are -1. The signature is the array API standard's.
    """
    order, dtype = _sort_order(descending, stable, nan), as_index_dtype(index_dtype)
    return _first(x, None, axis, order, False, dtype, out, device, _given(lengths=lengths))[0]


def lexsort(
    keys: Sequence[ArrayLike | Tensor] | ArrayLike,
    /,
    axis: SupportsIndex = -1,
    *,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
) -> Any:
    """The indices that sort along an axis by several keys, stably. The last key decides first.

    ``keys``: arrays or Tensors of one shape and any data types, or the rows of an array. Each is
    sorted as ``sort`` does, ascending. The result is an array where all keys are arrays, else a
    Tensor, and nothing comes back from the device. The contract is ``numpy.lexsort``'s.

    Raises ``ValueError`` for no keys, keys of different shapes and an axis out of range;
    ``TypeError`` for data types without an order.
    """
    dtype = as_index_dtype(index_dtype)
    given = _keys(keys)
    along = as_axis(axis, len(given[0].shape))
    check_holds("index_dtype", dtype, given[0].shape[along])
    executor = _on_one_device({f"keys[{n}]": key for n, key in enumerate(given)}, device)
    order = argsort(on_device("keys[0]", given[0], executor), axis=along, index_dtype=dtype)
    for n, key in enumerate(given[1:], 1):
        moved_key = take_along_axis(on_device(f"keys[{n}]", key, executor), order, along)
        order = take_along_axis(order, argsort(moved_key, axis=along, index_dtype=dtype), along)
    return order if any(isinstance(key, Tensor) for key in given) else order.numpy()


def _keys(keys: Sequence[ArrayLike | Tensor] | ArrayLike) -> list[Any]:
    """The keys of a sort, of one shape."""
    if isinstance(keys, Tensor) or not isinstance(keys, Sequence | np.ndarray):
        raise TypeError(f"keys must be a sequence of arrays or Tensors, not {type(keys).__name__}")
    if isinstance(keys, np.ndarray) and not keys.ndim:
        raise TypeError("keys must be a sequence of arrays or Tensors, not an array without dimensions")
    given = [key if isinstance(key, Tensor) else as_numpy(key, f"keys[{n}]") for n, key in enumerate(keys)]
    if not given:
        raise ValueError("keys must have at least one")
    if other := next((key.shape for key in given if key.shape != given[0].shape), None):
        raise ValueError(f"keys must have one shape, not {tuple(given[0].shape)} and {tuple(other)}")
    if not given[0].shape:
        raise ValueError("keys must have at least one dimension each")
    return given


def take_along_axis(
    x: ArrayLike | Tensor, indices: ArrayLike | Tensor, /, axis: SupportsIndex | None = -1, *, device: Device | None = None
) -> Any:
    """The elements of x at ``indices`` along an axis, bit for bit; ``axis=None``: of all in a row.

    ``take_along_axis(x, argsort(x), -1)`` is ``sort(x)``. ``indices`` (any integers in an array;
    int64, int32, uint64 or uint32 in a Tensor) have as many dimensions as x; sizes other than the
    axis's are broadcast. Negative ones count from the end. The result has x's data type, which may
    be complex64 or complex128 where both are arrays. It is then an array, else a Tensor, and
    nothing comes back from the device. The signature is NumPy's and the array API standard's.

    Raises ``ValueError`` for an axis out of range, shapes that cannot be broadcast, with
    ``axis=None`` for a Tensor that needs a copy, as a transposed one, and for indices out of range
    in an array. Indices in a Tensor are not looked at: those out of range take the last element.
    Raises ``TypeError`` for other data types.
    """
    places = _places(indices)
    given = x if isinstance(x, Tensor) else native_array(x)
    if axis is None:
        if len(places.shape) != 1:
            raise ValueError(f"indices must have one dimension with axis=None, not shape {places.shape}")
        given, axis = given.reshape(-1), 0
    tensors = {name: t for name, t in (("x", given), ("indices", indices)) if isinstance(t, Tensor)}
    if isinstance(given, np.ndarray) and given.dtype.char in "FD" and not tensors:
        return _take_complex(given, places, axis, device)
    given = given if isinstance(given, Tensor) else as_numpy(given)
    check_size(given.shape)
    along = as_axis(axis, len(given.shape))
    shape = taken_shape(given.shape, places.shape, along)
    if not isinstance(places, Tensor):
        check_indices(places, given.shape[along])
    executor = _on_one_device(tensors, device)
    source = on_device("x", given, executor)
    result = packed_tensor(executor, source.dtype, shape, "the result")
    if prod(shape):
        kept = tuple(source.shape[d] if d == along else n for d, n in enumerate(shape))
        _take(source.broadcast_to(kept), on_device("indices", places, executor).broadcast_to(shape), along, result)
    return result if tensors else result.numpy()


def _places(indices: ArrayLike | Tensor) -> Tensor | NDArray[Any]:
    """Indices of types that a device takes."""
    if isinstance(indices, Tensor):
        as_index_dtype(indices.dtype, "indices in a Tensor")
        return indices
    return as_indices(integers_as_numpy(indices, "indices"))


def _take_complex(x: NDArray[Any], indices: Any, axis: SupportsIndex, device: Device | None) -> NDArray[Any]:
    """Elements of two numbers each, which have no order but can be taken."""
    along = as_axis(axis, x.ndim)
    taken_shape(x.shape, indices.shape, along)
    real, imaginary = (take_along_axis(part, indices, along, device=device) for part in (x.real, x.imag))
    found = np.empty(real.shape, x.dtype)
    found.real, found.imag = real, imaginary
    return found


def _take(x: Tensor, indices: Tensor, axis: int, result: Tensor) -> None:
    """Elements at indices of the result's shape, to a new tensor."""
    device, tensors = x.device, {"input": x, "indices": indices, "values": result}
    shared = bound(x).buffer is bound(indices).buffer
    source, places, values = (bound(tensor).elements for tensor in tensors.values())

    def make() -> Plan:
        element, size = element_name(x.dtype), indices.dtype.itemsize
        selection = take_selection(element, source.layout, axis, values.layout, places.layout, size)
        signed = indices.dtype.kind == "i"
        return take_plan(device.planner, selection, signed=signed, vectors=source.vectors, shared_input=shared)

    prepared = device.prepare_plan(("take", axis, shared, source, places), make)
    device.run(prepared, resources_of(tensors))


# ----------------------------------------------------------------------------


def _given(
    lengths: Any = None, starts: Any = None, longest: Any = None, counts: Any = None, indices: Any = None, payload: Any = None
) -> dict[str, Any] | None:
    """What is given beside x, by its arguments' names; None, at once, where nothing is."""
    if lengths is None and starts is None and longest is None and counts is None and indices is None and payload is None:
        return None
    given = {"lengths": lengths, "starts": starts, "counts": counts, "indices": indices, "payload": payload, "longest": longest}
    return {name: value for name, value in given.items() if value is not None}


def _sort_order(descending: bool, stable: bool, nan: str) -> Order:
    as_flag("stable", stable)  # every answer here is the stable one
    return with_nan(Order.DESCENDING if as_flag("descending", descending) else Order.ASCENDING, nan)


def _on_one_device(tensors: Mapping[str, Any], device: Executor | None) -> Executor:
    """The device of the first Tensor among them, or the one named: of one GPU device with all."""
    found = {name: t for name, t in tensors.items() if isinstance(t, Tensor)}
    executor = as_device(next((t.device for t in found.values()), None) if device is None else device)
    for name, tensor in found.items():
        check_gpu_device(name, tensor, executor)
        check_alive(name, tensor)
    return executor


def _is_long(x: Any) -> bool:
    """Is it more than is read at once without need?"""
    if isinstance(x, np.ndarray):
        return x.nbytes > _LONG and not _repeats(x)
    chunked = hasattr(type(x), "chunks") and hasattr(x, "dtype")  # HDF5's and Zarr's data sets
    return chunked and bool(prod(x.shape) * x.dtype.itemsize > _LONG)


def _repeats(x: Any) -> bool:
    """Does an array repeat elements? They make any size, which nobody can have meant to read."""
    # A new axis, whose stride is 0 too, repeats none.
    return isinstance(x, np.ndarray) and any(n > 1 and step == 0 for n, step in zip(x.shape, x.strides, strict=True))


def _streams(x: Any, device: Executor) -> bool:
    """Must the array go through the device block by block? (``wgdml.outofcore``)"""
    in_memory = isinstance(x, np.ndarray) and not isinstance(x, np.memmap)
    return not in_memory or x.nbytes > device.buffers.largest or x.size > MOST_ELEMENTS


@dataclass(frozen=True)
class _Problem:
    """What a request means for its array: checked, with every number settled."""

    request: _Request
    axes: tuple[int, ...]
    k: int
    rows: tuple[int, ...]  #: The shape of the result with the axes kept.
    shape: tuple[int, ...]  #: The shape that the caller gets.

    @property
    def results(self) -> dict[str, np.dtype[Any]]:
        """Data types of what is wanted, by the names in the plan."""
        own = self.request
        values = {"values": own.elements.dtype} if own.has_values else {}
        return values if own.index_dtype is None else values | {"indices": own.index_dtype}

    @property
    def wanted(self) -> list[tuple[np.dtype[Any], tuple[int, ...]]]:
        """Data types and shapes of the results."""
        return [(dtype, self.shape) for dtype in self.results.values()]

    def layout(self, tensor: Elements) -> Layout:
        """That of a result, or of what lies beside x, with the axes kept."""
        steps = iter(tensor.layout.strides)
        dropped = self.axes if len(tensor.shape) < len(self.rows) else ()
        strides = tuple(0 if d in dropped else next(steps) for d in range(len(self.rows)))
        return Layout(self.rows, strides, tensor.rest)


class _Request(NamedTuple):
    """The first k along an axis, or the first pair over some axes.

    Calls are kept under it. As a frozen dataclass it would take 1 us more, of 10.
    """

    elements: Elements
    k: int | None  #: None: all.
    axis: int | tuple[int, ...] | None  #: None: all are reduced.
    order: Order
    has_values: bool
    index_dtype: np.dtype[Any] | None  #: None where indices are not wanted.
    in_order: bool = True
    last_index: bool = False
    keepdims: bool | None = None  #: None where no axis is reduced.
    positions: bool = True  #: Are indices positions, not ids or a payload of the caller's?

    def problem(self) -> _Problem:
        shape, k = self.elements.shape, self.k
        axes: tuple[int, ...]
        if self.keepdims is None:
            axes = (as_axis(cast(int, self.axis), len(shape)),)
            k = shape[axes[0]] if k is None else as_k(k, shape[axes[0]])
        else:
            axes, k = as_axes(self.axis, shape, self.has_values), 1
        if self.positions and self.index_dtype is not None:
            check_holds("index_dtype", self.index_dtype, prod(shape[a] for a in axes))
        rows = tuple(k if d in axes else n for d, n in enumerate(shape))
        result = batch_of(shape, axes) if self.keepdims is False else rows
        return _Problem(self, axes, k, rows, result)


@dataclass(frozen=True)
class _Call:
    """A request made ready: its plan and its results."""

    prepared: PreparedPlan | None  #: None where the results have no elements.
    outputs: tuple[tuple[str, np.dtype[Any], int], ...]  #: Name, data type, memory's bytes.
    shape: tuple[int, ...]  #: Of each result.
    strides: tuple[int, ...]
    input_memory: int  #: Bytes of the buffer for an array.


def _first(
    x: ArrayLike | Tensor,
    k: int | None,
    axis: Axes,
    order: Order,
    has_values: bool,
    index_dtype: np.dtype[Any] | None,
    out: Any,
    device: Executor | None,
    beside: Mapping[str, Any] | None = None,
    in_order: bool = True,
    last_index: bool = False,
    keepdims: bool | None = None,
) -> list[Any]:
    """What is wanted of the values and indices of the first pairs: k (all, for None) along an axis.

    With ``keepdims`` it is the first over some axes. ``beside``: lengths, starts, counts, longest,
    and indices or payload, where they are given.
    """
    operand, elements = _operand(x)
    # Exact types, as True and 1.0 have the hash of 1.
    if keepdims is None:
        axis = axis if type(axis) is int else as_int("axis", cast(SupportsIndex, axis))
    else:
        axis = axis if axis is None or type(axis) is int else as_ints("axis", axis)
    request = _Request(elements, k, axis, order, has_values, index_dtype, in_order, last_index, keepdims)
    return _run(operand, request, out, device) if beside is None else _run_beside(operand, request, out, device, beside)


def _reduced(
    order: Order,
    x: ArrayLike | Tensor,
    axis: Axes,
    keepdims: bool,
    nan: Nan,
    index_dtype: DTypeLike,
    out: Any,
    device: Device | None,
    has_values: bool = False,
    has_indices: bool = True,
    last: bool = False,
    beside: Mapping[str, Any] | None = None,
) -> Any:
    """The value of the first pair over some axes, its index, or both."""
    order, keeps, last = with_nan(order, nan), as_flag("keepdims", keepdims), as_flag("select_last_index", last)
    dtype, indexed = as_index_dtype(index_dtype), as_flag("return_indices", has_indices)
    found = _first(x, 1, axis, order, has_values, dtype if indexed else None, out, device, beside, True, last, keeps)
    return found[0] if len(found) == 1 else TopKResult(*found)


def _operand(x: Any) -> tuple[Any, Elements]:
    """A Tensor, an array, or what is long and not read yet; and what a plan depends on of it."""
    if isinstance(x, Tensor):
        return x, bound(x).elements
    if _is_long(x):
        return x, Elements(as_dtype(x.dtype, "x.dtype", swapped=True), as_sizes(x.shape, "x.shape"))
    array = as_numpy(x)
    return array, Elements(array.dtype, array.shape)


def _run(x: Any, request: _Request, out: Any, device: Executor | None) -> list[Any]:
    """Tensors from a Tensor, arrays from an array; or the tensors of ``out``."""
    executor: Executor
    if isinstance(x, Tensor):
        x = x if device is None else asarray(x, device=device)
        executor = x.device
    else:
        wanted = device if device is not None or out is None else _device_of(out)
        executor = as_device(wanted, _check, x, request, out)  # bad input opens none
        if _streams(x, executor) and _in_blocks(x, request, out):
            return _run_in_blocks(x, executor, request)
        # What is long was not read yet, and may have another byte order.
        if type(x) is not np.ndarray or x.dtype != request.elements.dtype:
            x = as_numpy(x)
    context = executor.context
    if context.gone is not None:
        context.check()
    if out is not None:
        check_size(request.elements.shape)
        return _run_into(x, executor, request, out)
    call: _Call | None = executor.kept.get(request)
    if call is None:
        call = _prepare(executor, request.problem())
        executor.kept.put(request, call)
    return _run_on_tensor(x, executor, call) if isinstance(x, Tensor) else _run_on_array(x, executor, call)


def _in_blocks(x: Any, request: _Request, out: Any) -> bool:
    """May the array go through the device block by block? A sort needs all of it."""
    return out is None and request.k is not None and request.axis != () and not _repeats(x)


def _check(x: Any, request: _Request, out: Any) -> None:
    """Refuses what no device could do."""
    if not _in_blocks(x, request, out):
        check_size(request.elements.shape)
    wanted = request.problem().wanted
    if out is not None:
        check_out(out, wanted)


def _device_of(out: Any) -> Executor | None:
    """The device of the first Tensor among them."""
    return next((t.device for t in (out if isinstance(out, Sequence) else [out]) if isinstance(t, Tensor)), None)


def _run_in_blocks(x: Any, device: Executor, request: _Request) -> list[Any]:
    from . import outofcore

    problem = request.problem()
    dtype = request.index_dtype or np.dtype(np.int64)
    wanted = Wanted(problem.axes, problem.k, request.order, request.last_index, request.has_values, dtype)
    values, indices = outofcore.select(x, wanted, device)
    found = [values, None if request.index_dtype is None else indices]
    return [part.reshape(problem.shape) for part in found if part is not None]


def _prepare(device: Executor, problem: _Problem) -> _Call:
    x = problem.request.elements
    check_size(x.shape)
    input_memory = device.buffers.class_of("x", prod(x.shape) * x.dtype.itemsize) if x.strides is None else 0
    outputs = tuple(
        (name, dtype, device.buffers.class_of(f"the result's {name}", prod(problem.shape) * dtype.itemsize))
        for name, dtype in problem.results.items()
    )
    prepared = None
    if prod(problem.shape):
        packed = Layout.packed(problem.rows)
        prepared = _place(device, problem, x, dict.fromkeys(problem.results, packed))
    return _Call(prepared, outputs, problem.shape, packed_strides(problem.shape), input_memory)


def _place(
    device: Executor,
    problem: _Problem,
    x: Elements,
    results: Mapping[str, Layout],
    shared_input: bool = False,
    besides: Mapping[str, tuple[str, Layout]] | None = None,
    longest: int = 0,
) -> PreparedPlan:
    """The problem's plan for tensors that lie so; results are those wanted, with the axes kept."""
    request = problem.request
    selection = make_selection(
        element_name(x.dtype),
        x.layout,
        problem.axes,
        problem.k,
        request.order,
        values=results.get("values"),
        indices=results.get("indices"),
        index_bytes=4 if request.index_dtype is None else request.index_dtype.itemsize,
        last_index=request.last_index,
        in_order=request.in_order,
        besides=besides,
        longest=longest,
    )
    return device.prepare(selection, vectors=x.vectors, shared_input=shared_input)


def _run_beside(x: Any, request: _Request, out: Any, device: Executor | None, given: Mapping[str, Any]) -> list[Any]:
    """Runs a request with lengths and others; arrays where all that is given are arrays."""
    x = x if isinstance(x, Tensor) else as_numpy(x)
    check_size(x.shape)
    request = request._replace(positions=given.keys().isdisjoint(("indices", "payload")))
    problem = request.problem()  # refuses a k and axes that x has not
    if not x.shape:  # one sequence of one item, whose result has no dimension
        x = x.reshape(1)
        request = request._replace(elements=Elements(x.dtype, (1,)), axis=0, keepdims=False)
        problem = request.problem()
    beside = check_besides(x.shape, problem.axes, problem.k, given)
    shape, axes, tensors, longest = beside
    request = request._replace(
        elements=Elements(request.elements.dtype, shape),
        axis=axes[0] if len(axes) == 1 else axes,
        index_dtype=beside.index_dtype(request.index_dtype),
    )
    wanted = request.problem().wanted
    if out is not None:
        check_out(out, wanted)
    everything: dict[str, Any] = {"x": x, **tensors}
    resident = any(isinstance(t, Tensor) for t in everything.values())
    executor = _on_one_device(everything, device if device is not None or resident else _device_of(out))
    placed = {name: on_device(name, t, executor) for name, t in everything.items()}
    source, batch = placed.pop("x").broadcast_to(shape), batch_of(shape, axes)
    besides = {name: t.broadcast_to(batch if name in SPANS else shape) for name, t in placed.items()}
    if out is not None:
        return _run_into(source, executor, request, out, besides, longest)
    made = [packed_tensor(executor, dtype, shape, "the result") for dtype, shape in wanted]
    found = _run_into(source, executor, request, made[0] if len(made) == 1 else made, besides, longest)
    return found if resident else list(to_numpy(*found))


def _run_into(
    x: Tensor | NDArray[Any],
    device: Executor,
    request: _Request,
    out: Any,
    besides: Mapping[str, Tensor] | None = None,
    longest: int = 0,
) -> list[Any]:
    """Runs a request into tensors that exist, and returns them. Errors come before any work."""
    besides = besides or {}
    problem = request.problem()
    given = [moved("out", tensor, device) for tensor in check_out(out, problem.wanted)]
    outputs = dict(zip(problem.results, given, strict=True))
    tensors = {"x": x} if isinstance(x, Tensor) else {}
    named = {"out" if len(outputs) == 1 else f"out's {name}": tensor for name, tensor in outputs.items()}
    tensors |= named
    check_apart(tensors)
    for name, tensor in besides.items():  # which may share memory with x, and with each other
        tensors[name] = tensor
        check_apart({name: tensor, **named})
    if prod(problem.shape):
        for name, tensor in tensors.items():
            check_alive(name, tensor)
        source = x if isinstance(x, Tensor) else asarray(x, device=device)
        # Plans call the payload what stands for each item.
        roles = {name if name in SPANS else "payload": tensor for name, tensor in besides.items()}
        everything = {"input": source, **outputs, **roles}
        prepared = _prepare_into(device, problem, everything, tuple(roles), longest)
        device.run(prepared, resources_of(everything))
    return [out] if len(outputs) == 1 else list(out)  # not ``given``, which may stand for others


def _prepare_into(
    device: Executor,
    problem: _Problem,
    tensors: Mapping[str, Tensor],
    beside: tuple[str, ...],
    longest: int,
) -> PreparedPlan:
    """The plan for tensors that lie so: the input, the results, and those ``beside`` it."""
    read = [bound(tensors[name]).buffer for name in ("input", "payload") if name in tensors]
    shared = any(bound(tensors[name]).buffer is buffer for name in problem.results for buffer in read)
    own = {name: bound(tensor).elements for name, tensor in tensors.items()}
    key = "into", problem.request, tuple(own.values()), shared, beside, longest
    prepared: PreparedPlan | None = device.kept.get(key)
    if prepared is None:
        results = {name: problem.layout(own[name]) for name in problem.results}
        besides = {name: (own[name].dtype.name, problem.layout(own[name])) for name in beside}
        prepared = _place(device, problem, own["input"], results, shared, besides, longest)
        device.kept.put(key, prepared)
    return prepared


def _run_on_tensor(x: Tensor, device: Executor, call: _Call) -> list[Tensor]:
    source = bound(x)
    resources = {"input": (source.buffer, source.start)}
    results = []
    for name, dtype, size in call.outputs:
        memory = device.buffers.allocate_class(size)
        resources[name] = memory.buffer, 0
        results.append(new_tensor(device, memory.buffer, dtype, call.shape, call.strides, 0, memory))
    if call.prepared is not None:
        check_alive("x", x)
        device.run(call.prepared, resources)
    return results


def _run_on_array(x: NDArray[Any], device: Executor, call: _Call) -> list[NDArray[Any]]:
    if call.prepared is None:
        return [np.empty(call.shape, dtype) for _, dtype, _ in call.outputs]
    memories = [device.buffers.allocate_class(call.input_memory)]
    resources = {"input": (memories[0].buffer, 0)}
    spans = []
    for name, dtype, size in call.outputs:
        memory = device.buffers.allocate_class(size)
        memories.append(memory)
        resources[name] = memory.buffer, 0
        spans.append(Span(memory.buffer, 0, call.shape, dtype))
    device.transfers.write(np.ascontiguousarray(x), memories[0].buffer)
    return device.run_and_read(call.prepared, resources, spans)
