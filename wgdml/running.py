"""A top-k of items that arrive one batch after another: k pairs a sequence stay on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any, Literal, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .arguments import as_dtype, as_index_dtype, as_indices, as_int, as_order, as_sizes, broadcasts, element_name
from .contract import check_holds
from .lines import line_selection
from .plan import Plan
from .plan.running import Rows, begin_plan, merge_plan, result_plan, update_plan
from .results import TopKResult
from .runtime.bindings import Resources
from .runtime.default import as_device
from .runtime.device import Device
from .runtime.executor import Executor, PreparedPlan
from .runtime.tensor import (
    Tensor,
    as_numpy,
    asarray,
    bound,
    check_alive,
    check_gpu_device,
    integers_as_numpy,
    keep_memory,
    packed_tensor,
    resources_of,
    sliced,
)
from .selection import Order, Selection

_IDS = {"uint32": 1, "int32": 2, "uint64": 3, "int64": 3}


class RunningTopK:
    """The k largest (or smallest) of all items that came so far, of each of several sequences.

    ``batch_shape`` is the shape of the sequences; a batch of items has shape ``batch_shape + (n,)``
    with any n, and data type ``dtype``. The state, k pairs a sequence, stays on the device. The
    answer is ``top_k``'s of all items one behind the other, whatever the batches' sizes: sorted,
    and of equal elements the one that came first comes first. ``mode`` and ``nan`` as of ``top_k``.

    Raises ``ValueError`` for k below 1 and negative sizes, ``TypeError`` for data types without an
    order, ``MemoryError`` where the state does not fit the device.
    """

    k: int
    """The number of pairs that are kept of each sequence."""
    dtype: np.dtype[Any]
    """The data type of the items."""
    batch_shape: tuple[int, ...]
    """The shape of the sequences."""
    device: Device
    """The ``Device`` that the state is on."""

    def __init__(
        self,
        k: SupportsIndex,
        dtype: DTypeLike,
        batch_shape: SupportsIndex | Sequence[SupportsIndex] = (),
        *,
        mode: Literal["largest", "smallest"] = "largest",
        nan: Literal["greatest", "last"] = "greatest",
        device: Device | None = None,
    ) -> None:
        self._begin(as_int("k", k), as_dtype(dtype), as_sizes(batch_shape, "batch_shape"), as_order(mode, nan), False, device)

    def _begin(
        self, k: int, dtype: np.dtype[Any], batch_shape: tuple[int, ...], order: Order, last_index: bool, device: Executor | None
    ) -> None:
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        self.k, self.dtype, self.batch_shape = k, dtype, batch_shape
        self._rows = Rows(element_name(dtype, "dtype"), order, prod(batch_shape), k, last_index)
        self._own_ids: int | None = None  # bytes of the caller's; 0: positions; None: no items yet
        self.device = as_device(device)
        machine = self.device.planner.machine
        size = self._rows.state_bytes(machine)
        largest = min(machine.max_storage_buffer_binding_size, machine.max_buffer_size)
        if size > largest:
            raise MemoryError(f"k = {k} pairs of {self._rows.sequences} sequences take {size} bytes, over this device's {largest}")
        self._state = packed_tensor(self.device, np.dtype(np.uint32), (size // 4,), "the state")
        self.reset()

    def __repr__(self) -> str:
        return f"<wgdml.RunningTopK k {self.k} of {self.dtype.name}{[*self.batch_shape, '...']}>".replace("'", "")

    def __setattr__(self, name: str, value: object) -> None:
        if name in RunningTopK.__annotations__ and name in vars(self):
            raise AttributeError(f"{name} of a wgdml.RunningTopK cannot be set: its state stays as it was made")
        super().__setattr__(name, value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a wgdml.RunningTopK cannot be copied or pickled: its state is on a device; a new one can merge it")

    def reset(self) -> None:
        """Forgets all items."""
        self._own_ids = None
        self._count = 0  # items of each sequence so far, as far as is known here
        if self._rows.sequences:
            self._run(begin_plan)

    def update(self, x: ArrayLike | Tensor, indices: ArrayLike | Tensor | None = None) -> None:
        """Takes the next items of each sequence; submits and does not wait.

        ``x`` has shape ``batch_shape + (n,)``. ``indices``: the caller's ids of the items, int64,
        int32, uint64 or uint32, of x's shape or what broadcasts to it; they are what ``result``
        gives in place of positions, which go on from batch to batch. Either all items have ids, or
        none.

        Raises ``TypeError`` for another data type, ``ValueError`` for another shape, for a Tensor
        of another GPU device, and for ids where there were none before, or the other way round.
        """
        given = x if isinstance(x, Tensor) else as_numpy(x)
        ids = indices if indices is None or isinstance(indices, Tensor) else as_indices(integers_as_numpy(indices, "indices"))
        with self._counting() as taken:
            self._check(given, ids)
            for part, own in self._blocks(given, ids):
                take_items(self, part, (len(self.batch_shape),), own)
                taken()

    def record_update(self, encoder: Any, /, x: Tensor, indices: Tensor | None = None) -> None:
        """Records ``update`` of Tensors into a ``wgpu.GPUCommandEncoder`` or
        ``wgpu.GPUComputePassEncoder``.

        Neither submits nor waits. What is recorded takes x's items as they are when it runs, and
        may be recorded any number of times: positions go on as submissions do.

        Raises as ``update`` does, ``TypeError`` for what is no Tensor or no encoder, ``ValueError``
        for an encoder that has ended.
        """
        self.device.check_encoder(encoder)
        for name, tensor in {"x": x, "indices": indices}.items():
            if not isinstance(tensor, Tensor) and (name == "x" or tensor is not None):
                raise TypeError(f"{name} must be a wgdml.Tensor, not {type(tensor).__name__}")
        along = (len(self.batch_shape),)
        with self._counting():
            self._check(x, indices)
            for tensor in (self._state, x, indices):
                if tensor is not None:
                    keep_memory(tensor)
            self.device.record(encoder, (self._prepared(part, along, own) for part, own in self._blocks(x, indices)))

    def merge(self, other: RunningTopK) -> None:
        """Takes all that another one keeps, as if its items came now, behind those here.

        Raises ``TypeError`` for other objects, ``ValueError`` for one of another k, data type,
        batch shape, order or GPU device, for itself, and where only one of both has the caller's
        ids.
        """
        if not isinstance(other, RunningTopK):
            raise TypeError(f"other must be a wgdml.RunningTopK, not {type(other).__name__}")
        if other is self:
            raise ValueError("other must be another RunningTopK, not this one itself")
        for name, mine, its in (
            ("k", self.k, other.k),
            ("dtype", self.dtype.name, other.dtype.name),
            ("batch_shape", self.batch_shape, other.batch_shape),
        ):
            if mine != its:
                raise ValueError(f"other must have the same {name}, {mine}, not {its}")
        if self._rows != other._rows:
            raise ValueError("other must have the same mode and nan, and so the same order")
        check_gpu_device("other", other._state, self.device)
        if other._own_ids is None:
            return
        with self._counting():
            self._check_ids(other._own_ids)
            if self._rows.sequences:
                self._run(merge_plan, other._own_ids > 0, other=other._state)
        self._count += other._count

    @contextmanager
    def _counting(self) -> Iterator[Callable[[], None]]:
        """Counts nothing of what fails, but for what was taken when its result was last called."""
        known = self._own_ids, self._count

        def taken() -> None:
            nonlocal known
            known = self._own_ids, self._count

        try:
            yield taken
        except BaseException:
            self._own_ids, self._count = known
            raise

    def result(self, *, index_dtype: DTypeLike = "int64") -> TopKResult:
        """The pairs that are kept, as new Tensors of shape ``batch_shape + (k,)``; does not wait.

        Where fewer than k items came, the last indices are -1 (all ones), and their values the
        type's last number in the order: -inf or the least number for the largest, inf or the
        greatest for the smallest. ``index_dtype``: int64, int32, uint64 or uint32. Ids of as many
        bits keep them: uint64 ids from 2^63 on are negative as int64.

        Raises ``ValueError`` for an ``index_dtype`` of fewer bits than the caller's ids, and for
        one that does not hold the last position.
        """
        dtype, shape = as_index_dtype(index_dtype), (*self.batch_shape, self.k)
        if dtype.itemsize < (self._own_ids or 0):
            raise ValueError(f"index_dtype must have the 64 bits of the indices that were given, not {dtype.name}")
        if not self._own_ids:
            check_holds("index_dtype", dtype, self._count)
        values, indices = packed_tensor(self.device, self.dtype, shape), packed_tensor(self.device, dtype, shape)
        if self._rows.sequences:
            self._run(result_plan, dtype.itemsize, values=values, indices=indices)
        return TopKResult(values, indices)

    # ------------------------------------------------------------------------

    def _check(self, x: Any, ids: Any) -> None:
        if x.dtype != self.dtype:
            raise TypeError(f"x must have data type {self.dtype.name}, not {x.dtype.name}")
        if len(x.shape) != len(self.batch_shape) + 1 or tuple(x.shape[:-1]) != self.batch_shape:
            raise ValueError(f"x must have shape {(*self.batch_shape, 'n')}, not {tuple(x.shape)}".replace("'", ""))
        if ids is not None:
            as_index_dtype(ids.dtype, "indices")
            if not broadcasts(ids.shape, x.shape):
                raise ValueError(f"indices of shape {tuple(ids.shape)} cannot be broadcast to x's {tuple(x.shape)}")
        for name, tensor in {"x": x, "indices": ids}.items():
            if isinstance(tensor, Tensor):
                check_gpu_device(name, tensor, self.device)
                check_alive(name, tensor)
        if x.shape[-1]:
            self._check_ids(0 if ids is None else ids.dtype.itemsize)

    def _check_ids(self, size: int) -> None:
        known = self._own_ids
        if known is not None and (known > 0) != (size > 0):
            raise ValueError(f"indices must be given with {'all items, as before' if known else 'no items, as before'}")
        self._own_ids = max(known or 0, size)

    def _blocks(self, x: Any, ids: Any) -> Iterator[tuple[Tensor, Tensor | None]]:
        """Items, and ids, on the device: as many at a time as a binding holds."""
        length = x.shape[-1]
        if not length or not self._rows.sequences:
            return
        largest = self.device.planner.machine.max_storage_buffer_binding_size
        item = max(x.dtype.itemsize, 0 if ids is None else ids.dtype.itemsize)
        step = ids.strides[-1] if isinstance(ids, Tensor) and ids.shape[-1:] > (1,) else 1
        most = max(1, (largest // item - 512) // max(self._rows.sequences, step))
        parts = -(-length // most)
        for number in range(parts):
            first, end = length * number // parts, length * (number + 1) // parts
            yield self._block(x, first, end), None if ids is None else self._ids(ids, x.shape, first, end)

    def _block(self, x: Any, first: int, end: int) -> Tensor:
        """The items of a range, on the device."""
        if isinstance(x, Tensor):
            own = asarray(x, device=self.device)
            return own if (first, end) == (0, x.shape[-1]) else sliced(own, first, end)
        return asarray(x[..., first:end], device=self.device)

    def _ids(self, ids: Any, shape: tuple[int, ...], first: int, end: int) -> Tensor:
        """The ids of a range, in the items' shape."""
        if ids.ndim and ids.shape[-1] > 1:
            ids = self._block(ids, first, end)
        return asarray(ids, device=self.device).broadcast_to((*shape[:-1], end - first))

    def _prepared(self, x: Tensor, axes: tuple[int, ...], ids: Tensor | None) -> tuple[PreparedPlan, Resources]:
        """The plan that takes a Tensor's items, and what it binds."""
        full = self._count >= self.k
        self._count += prod(x.shape[a] for a in axes)
        tensors = {"state": self._state, "input": x} | ({} if ids is None else {"ids": ids})
        source, other = bound(x), None if ids is None else bound(ids)
        shared = other is not None and other.buffer is source.buffer
        lie = source.elements, other and other.elements, shared

        def make() -> Plan:
            kind = 0 if ids is None else _IDS[ids.dtype.name]
            selection = self._selection(x, axes, ids)
            how = {"vectors": source.elements.vectors, "shared_input": shared}
            return update_plan(self.device.planner, self._rows, selection, kind, full, **how)

        key = update_plan, self._rows, axes, full, *lie
        return self.device.prepare_plan(key, make), resources_of(tensors)

    def _selection(self, x: Tensor, axes: tuple[int, ...], ids: Tensor | None) -> Selection:
        """The first pairs of the items. Strides of indices tell a row, those of values its ids."""
        k = min(self.k, prod(x.shape[a] for a in axes))
        layout = None if ids is None else bound(ids).elements.layout
        selection = line_selection(x, axes, k, self._rows.order, last_index=self._rows.last_index, values=layout)
        batch = tuple(replace(dim, index_stride=dim.index_stride // k) for dim in selection.batch)
        return replace(selection, batch=batch)

    def _run(self, make: Callable[..., Plan], *options: int, **others: Tensor) -> None:
        """Runs a plan on the state and other packed tensors."""
        key = make, self._rows, *options
        prepared = self.device.prepare_plan(key, lambda: make(self.device.planner, self._rows, *options))
        self.device.run(prepared, resources_of({"state": self._state} | others))


def running_of(
    k: int, dtype: np.dtype[Any], batch_shape: tuple[int, ...], order: Order, last_index: bool, device: Executor | None
) -> RunningTopK:
    """A running top-k in any order of pairs, also where the last of equal elements is wanted."""
    running = object.__new__(RunningTopK)
    running._begin(k, dtype, batch_shape, order, last_index, device)
    return running


def take_items(running: RunningTopK, x: Tensor, axes: tuple[int, ...], ids: Tensor | None = None) -> None:
    """``update`` of a Tensor whose sequences lie along one or more axes; unchecked."""
    running.device.run(*running._prepared(x, axes, ids))
