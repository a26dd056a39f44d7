"""``top_k``, ``argmax`` and ``argmin`` of arrays that are larger than the device's memory, or the host's.

The array is cut into blocks. Each is uploaded while the ones before it are reduced; where a sequence is cut, the device merges the
partial (value, index) pairs of its blocks. Blocks of one sequence follow one another in ascending order of index, and pairs of one
block are sorted with ties by index: among pairs of equal value the position within the partial results ascends with the index, and
so a selection that settles ties by position settles them by index.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Literal, Protocol, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .functions import TopKResult, _axis, _index_dtype
from .runtime.device import Device, PreparedPlan, default_device
from .runtime.stream import MERGED_SLOTS, IndexMerger, Uploader
from .runtime.tensor import Tensor, _int, _ints, element_name, packed_strides
from .selection import Layout, Order, Selection, make_selection

__all__ = ["Progress", "Source", "argmax", "argmin", "block_sizes", "top_k"]

#: Called after each block with the bytes done and the bytes there are. "auto" shows a bar on a terminal once the work proves long.
Progress = Callable[[int, int], None] | Literal["auto"] | None

_BLOCK_BYTES = 32 << 20
_PAGE = 4096
_BAR_AFTER = 2.0  # seconds


class Source(Protocol):
    """What can be read block by block: a NumPy array or memory map, an HDF5 or Zarr data set, a class of the caller's own."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...
    def __getitem__(self, key: tuple[slice, ...], /) -> Any: ...


def top_k(
    x: Source,
    k: SupportsIndex,
    /,
    *,
    axis: SupportsIndex = -1,
    mode: Literal["largest", "smallest"] = "largest",
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
    block_bytes: int | None = None,
    progress: Progress = "auto",
) -> TopKResult:
    """``wgdml.top_k`` of a source of any size.

    ``block_bytes``: the size of a block, by default 32 MiB or an eighth of the device's largest buffer; the device holds two of
    them, the host two more, and beside them a few times k pairs. ``progress``: a function of (bytes done, bytes in all), "auto" (a
    bar on a terminal if the work takes long) or None.
    Raises as ``wgdml.top_k`` does, and ``MemoryError`` where k pairs do not fit the device.
    """
    if mode not in ("largest", "smallest"):
        raise ValueError(f'mode must be "largest" or "smallest", not {mode!r}')
    _check_source(x)
    if not x.shape:
        raise ValueError("x must have at least one dimension")
    along = _axis(axis, len(x.shape))
    count = _int("k", k)
    if count < 0:
        raise ValueError(f"k must not be negative, not {count}")
    if count > x.shape[along]:
        raise ValueError(f"k must be at most the axis's size of {x.shape[along]}, not {count}")
    order = Order.DESCENDING if mode == "largest" else Order.ASCENDING
    values, indices = _select(x, (along,), count, order, False, True, index_dtype, device, block_bytes, progress)
    return TopKResult(values, indices)


def argmax(
    x: Source,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
    block_bytes: int | None = None,
    progress: Progress = "auto",
) -> Any:
    """``wgdml.argmax`` of a source of any size; ``block_bytes`` and ``progress`` as of ``top_k`` here."""
    return _arg(x, axis, keepdims, select_last_index, Order.MAXIMUM, index_dtype, device, block_bytes, progress)


def argmin(
    x: Source,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
    block_bytes: int | None = None,
    progress: Progress = "auto",
) -> Any:
    """``wgdml.argmin`` of a source of any size; ``block_bytes`` and ``progress`` as of ``top_k`` here."""
    return _arg(x, axis, keepdims, select_last_index, Order.MINIMUM, index_dtype, device, block_bytes, progress)


def _check_source(x: Any) -> None:
    if isinstance(x, Tensor) or not all(hasattr(x, name) for name in ("shape", "dtype", "__getitem__")):
        raise TypeError(f"x must have shape, dtype and x[slices], in the host's reach, which {type(x).__name__} has not")


def _arg(
    x: Source,
    axis_in: SupportsIndex | Sequence[SupportsIndex] | None,
    keepdims: bool,
    last_index: bool,
    order: Order,
    index_dtype: DTypeLike,
    device: Device | None,
    block_bytes: int | None,
    progress: Progress,
) -> Any:
    _check_source(x)
    ndim = len(x.shape)
    axes = tuple(range(ndim)) if axis_in is None else tuple(sorted(_axis(a, ndim) for a in _ints("axis", axis_in)))
    if not axes and axis_in is not None:
        raise ValueError("axis must name at least one axis, not ()")
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis must name each axis once, not {axis_in!r}")
    if any(x.shape[a] == 0 for a in axes):
        raise ValueError(f"x of shape {x.shape} has nothing to reduce along axis {axis_in!r}")
    indices = _select(x, axes, 1, order, last_index, False, index_dtype, device, block_bytes, progress)[1]
    return indices if keepdims else indices.reshape([n for d, n in enumerate(x.shape) if d not in axes])


# ---------------------------------------------------------------------------------------------------------------------------------


def block_sizes(
    shape: Sequence[int], memory_order: Sequence[int], axes: Sequence[int], k: int, itemsize: int, block_bytes: int
) -> tuple[int, ...]:
    """The sizes of a block, at most ``block_bytes``, in long runs of memory.

    ``memory_order``: the dimensions, the one with the largest stride first. Blocks grow from the innermost dimension outwards. Of
    several axes an outer one is taken only after the inner ones are whole, so that each block's indices are one range. Where
    sequences are cut, a block keeps to few of them: the partial pairs of all of them wait on the device.
    """
    pair_bytes = k * (itemsize + 8)
    room = max(1, block_bytes // itemsize)
    inner_first = sorted(axes, reverse=True)
    sizes = [1] * len(shape)
    elements = rows = 1
    uncut = {a for a in axes if shape[a] > 1}
    cut = False
    for dimension in reversed(memory_order):
        if dimension in axes:
            axis = inner_first.pop(0)
            sizes[axis] = 1 if cut else max(1, min(shape[axis], room // elements))
            cut = cut or sizes[axis] < shape[axis]
            if not cut:
                uncut.discard(axis)
            elements *= sizes[axis]
        else:
            most = block_bytes // pair_bytes
            if uncut:
                most = max(most // 16, min(_PAGE // itemsize, most))
            size = max(1, min(shape[dimension], room // elements, most // rows))
            sizes[dimension] = size
            rows *= size
            elements *= size
    return tuple(-(-n // -(-n // size)) for n, size in zip(shape, sizes, strict=True))


def _ranges(size: int, block: int) -> list[slice]:
    """A dimension in parts of at most ``block``, which differ by one at most."""
    parts = -(-size // block)
    bounds = [size * i // parts for i in range(parts + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(bounds)]


def _memory_order(x: Source) -> tuple[int, ...]:
    """The dimensions, the one with the largest stride first; row-major where x does not say."""
    strides = x.strides if isinstance(x, np.ndarray) else [0] * len(x.shape)
    return tuple(sorted(range(len(x.shape)), key=lambda d: -abs(strides[d])))


@dataclass
class _Reporter:
    """Calls the caller's function, or shows a bar on a terminal if the work takes long and rich is there."""

    progress: Progress
    total: int
    done: int = 0
    started: float = field(default_factory=time.monotonic)
    bar: Any = None
    task: Any = None

    def add(self, count: int) -> None:
        self.done += count
        if callable(self.progress):
            self.progress(self.done, self.total)
        elif self.progress == "auto" and (self.bar is not None or time.monotonic() - self.started > _BAR_AFTER):
            self.show()

    def show(self) -> None:
        if self.bar is None:
            if sys.stderr is None or not sys.stderr.isatty():
                self.progress = None
                return
            try:
                from rich.console import Console
                from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn
                from rich.progress import Progress as Bar
            except ImportError:
                self.progress = None
                return
            columns = BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task("", total=self.total)
        self.bar.update(self.task, completed=self.done)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


@dataclass
class _Reduction:
    """One pass over a source: what is asked for, and what it is cut into."""

    x: Source
    axes: tuple[int, ...]
    k: int
    order: Order
    last_index: bool
    device: Device
    dtype: np.dtype[Any]
    memory_order: tuple[int, ...]
    sizes: tuple[int, ...]
    prepared: dict[Any, PreparedPlan] = field(default_factory=dict)

    @property
    def cut(self) -> bool:
        """Do sequences go over several blocks?"""
        return any(self.sizes[a] < self.x.shape[a] for a in self.axes)

    def parts(self, dimensions: Sequence[int]) -> Iterator[dict[int, slice]]:
        """The parts of these dimensions, the last one changing fastest."""
        for ranges in itertools.product(*(_ranges(self.x.shape[d], self.sizes[d]) for d in dimensions)):
            yield dict(zip(dimensions, ranges, strict=True))

    def regions(self) -> Iterator[dict[int, slice]]:
        return self.parts([d for d in self.memory_order if d not in self.axes])

    def first_index(self, part: dict[int, slice]) -> int:
        first = 0
        for axis in self.axes:
            first = first * self.x.shape[axis] + part[axis].start
        return first

    def read(self, part: dict[int, slice]) -> NDArray[Any]:
        """A block, its dimensions in memory order."""
        block = np.asarray(self.x[tuple(part[d] for d in range(len(part)))])
        shape = tuple(part[d].stop - part[d].start for d in range(len(part)))
        if block.shape != shape or block.dtype != self.x.dtype:
            raise ValueError(f"x gave {block.dtype.name}{list(block.shape)} for a block of {self.dtype.name}{list(shape)}")
        return block.astype(self.dtype, copy=False).transpose(self.memory_order)

    def select(
        self,
        buffer: Any,
        block: NDArray[Any],
        values: tuple[Any, int] | None,
        indices: tuple[Any, int],
        index_bytes: int,
        packed: bool,
    ) -> None:
        """Submits the selection of one block. Results go to (buffer, byte offset) pairs: in the result's order of dimensions or,
        not ``packed``, row by row with the pairs of a row side by side."""
        key = block.shape, values is None, index_bytes, packed
        prepared = self.prepared.get(key)
        if prepared is None:
            selection = self.selection(block.shape, values is not None, index_bytes, packed)
            prepared = self.prepared[key] = self.device.prepare(selection)
        resources = {"input": (buffer, 0), "indices": indices} | ({} if values is None else {"values": values})
        self.device.run(prepared, resources)

    def selection(self, shape: tuple[int, ...], has_values: bool, index_bytes: int, packed: bool) -> Selection:
        """The problem of a block of this shape, its dimensions in memory order."""
        strides = [0] * len(shape)
        for d, stride in zip(self.memory_order, packed_strides(shape), strict=True):
            strides[d] = stride
        sizes = tuple(n for _, n in sorted(zip(self.memory_order, shape, strict=True)))
        along = self.k if len(self.axes) == 1 else 1
        if packed:
            steps = packed_strides(tuple(along if d in self.axes else n for d, n in enumerate(sizes)))
        else:
            rows = packed_strides(tuple(1 if d in self.axes else n for d, n in enumerate(sizes)))
            steps = tuple(1 if d in self.axes else s * self.k for d, s in enumerate(rows))
        result = Layout(tuple(along if d in self.axes else n for d, n in enumerate(sizes)) or (1,), steps or (1,))
        return make_selection(
            element_name(self.dtype),
            Layout(sizes or (1,), tuple(strides) or (1,)),
            self.axes or (0,),
            self.k,
            self.order,
            values=result if has_values else None,
            indices=result,
            index_bytes=index_bytes,
            last_index=self.last_index,
        )


class _Merger:
    """Partial results of up to 64 blocks side by side on the device, and their merge into the first place of a second such set."""

    def __init__(self, reduction: _Reduction, rows: int, blocks: int, budget: int) -> None:
        device, k = reduction.device, reduction.k
        self.reduction = reduction
        self.slot_step = -(-rows * k // 256) * 256  # elements, so that every slot is bound at an aligned offset
        largest = min(device.limits["max-storage-buffer-binding-size"], device.limits["max-buffer-size"])
        most = min(budget, largest) // (8 * self.slot_step)
        self.slots = min(MERGED_SLOTS, blocks, max(most, 2))
        if self.slots * self.slot_step * 8 > largest:
            raise MemoryError(f"k = {k}: two times {rows * k} pairs do not fit in the device's buffers of {largest} bytes")
        shape = (self.slots, self.slot_step)
        self.values = [Tensor._empty(device, reduction.dtype, shape) for _ in range(2)]
        self.indices = [Tensor._empty(device, np.dtype(np.int64), shape) for _ in range(2)]
        self.positions = Tensor._empty(device, np.dtype(np.uint32), (self.slot_step,))
        self.merger = IndexMerger(device)
        self.side = 0
        self.first_indices: list[int] = []

    def add(self, buffer: Any, block: NDArray[Any], first_index: int, rows: int) -> None:
        """Selects from a block into the next slot; merges before if all are taken."""
        if len(self.first_indices) == self.slots:
            self.merge(rows, self.values[1 - self.side], self.indices[1 - self.side])
            self.side = 1 - self.side
            self.first_indices = [0]
        slot = len(self.first_indices) * self.slot_step
        values = self.values[self.side].buffer, slot * self.reduction.dtype.itemsize
        indices = self.indices[self.side].buffer, slot * 8
        self.reduction.select(buffer, block, values, indices, 8, packed=False)
        self.first_indices.append(first_index)

    def merge(self, rows: int, values: Tensor, indices: Tensor) -> None:
        r = self.reduction
        slots = len(self.first_indices)
        source = Layout((slots, rows, r.k), (self.slot_step, r.k, 1))
        result = Layout((1, rows, r.k), (0, r.k, 1))
        selection = make_selection(
            element_name(r.dtype), source, (0, 2), r.k, r.order, values=result, indices=result, last_index=r.last_index
        )
        selection = replace(selection, value_step=1, index_step=1)
        resources = {
            "input": (self.values[self.side].buffer, 0),
            "values": (values.buffer, 0),
            "indices": (self.positions.buffer, 0),
        }
        r.device.run(r.device.prepare(selection), resources)
        self.merger.run(
            self.positions.buffer,
            self.indices[self.side].buffer,
            indices.buffer,
            rows=rows,
            k=r.k,
            slot_step=self.slot_step,
            first_indices=self.first_indices,
        )

    def finish(self, rows: int) -> tuple[Tensor, Tensor]:
        """The merged pairs of all blocks since the last call, k a row."""
        r = self.reduction
        values = Tensor._empty(r.device, r.dtype, (rows, r.k))
        indices = Tensor._empty(r.device, np.dtype(np.int64), (rows, r.k))
        self.merge(rows, values, indices)
        self.first_indices = []
        return values, indices


def _select(
    x: Source,
    axes: tuple[int, ...],
    k: int,
    order: Order,
    last_index: bool,
    has_values: bool,
    index_dtype_in: DTypeLike,
    device: Device | None,
    block_bytes: int | None,
    progress: Progress,
) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Values and indices as NumPy arrays that keep x's dimensions."""
    index_dtype = _index_dtype(index_dtype_in)
    dtype = np.dtype(x.dtype).newbyteorder("=")
    element_name(dtype)
    length = prod(x.shape[a] for a in axes)
    if length - 1 > np.iinfo(index_dtype).max:
        raise ValueError(f"index_dtype must hold indices up to {length - 1}, which {index_dtype.name} does not")
    if progress is not None and progress != "auto" and not callable(progress):
        raise TypeError(f'progress must be a function, "auto" or None, not {progress!r}')
    if not isinstance(device, Device | None):
        raise TypeError(f"device must be a wgdml.Device, not {type(device).__name__}")
    device = device or default_device()
    # Of every block that a sequence is cut into all k pairs are kept.
    largest = min(device.limits["max-buffer-size"], 0xFFFFFFF0) // 16 * 16
    budget = min(_BLOCK_BYTES, largest // 8) if block_bytes is None else _int("block_bytes", block_bytes)
    if budget < 1:
        raise ValueError(f"block_bytes must be at least 1, not {budget}")
    budget = min(max(budget, 2 * k * dtype.itemsize, dtype.itemsize), largest)
    shape = tuple(int(n) for n in x.shape)
    kept = tuple((k if len(axes) == 1 else 1) if d in axes else n for d, n in enumerate(shape))
    values = np.empty(kept, dtype) if has_values else None
    indices = np.empty(kept, index_dtype)
    if not indices.size:
        return values, indices
    memory_order = _memory_order(x)
    sizes = block_sizes(shape, memory_order, axes, k, dtype.itemsize, budget)
    r = _Reduction(x, axes, k, order, last_index, device, dtype, memory_order, sizes)
    waiting: list[tuple[tuple[slice, ...], Tensor | None, Tensor]] = []

    def collect() -> None:
        for place, block_values, block_indices in waiting:
            for out, block in ((values, block_values), (indices, block_indices)):
                if out is not None and block is not None:
                    got = block.numpy()
                    if r.cut and len(axes) == 1:
                        others = [n.stop - n.start for d, n in enumerate(place) if d != axes[0]]
                        got = np.moveaxis(got.reshape(*others, k), -1, axes[0])
                    out[place] = got.reshape(out[place].shape)
        waiting.clear()

    report = _Reporter(progress, prod(shape) * dtype.itemsize)
    merger = None
    if r.cut:
        blocks = prod(len(_ranges(shape[a], sizes[a])) for a in axes)
        merger = _Merger(r, prod(n for d, n in enumerate(sizes) if d not in axes), blocks, budget)
    try:
        with Uploader(device, prod(sizes) * dtype.itemsize) as uploader:
            for region in r.regions():
                place = tuple(slice(None) if d in axes else region[d] for d in range(len(shape)))
                rows = prod(n.stop - n.start for n in region.values())
                found: tuple[Tensor | None, Tensor]
                for part in r.parts(axes):
                    block = r.read(region | part)
                    buffer = uploader.put(block)
                    if merger is not None:
                        merger.add(buffer, block, r.first_index(part), rows)
                    else:
                        size = tuple(n for n in indices[place].shape)
                        block_values = Tensor._empty(device, dtype, size) if has_values else None
                        block_indices = Tensor._empty(device, index_dtype, size)
                        r.select(
                            buffer,
                            block,
                            None if block_values is None else (block_values.buffer, 0),
                            (block_indices.buffer, 0),
                            index_dtype.itemsize,
                            packed=True,
                        )
                        found = block_values, block_indices
                    report.add(block.nbytes)
                if merger is not None:
                    merged_values, merged_indices = merger.finish(rows)
                    found = merged_values if has_values else None, merged_indices
                waiting.append((place, *found))
                # Reading back waits for the device, so it is done seldom.
                if sum(t.nbytes for _, *pair in waiting for t in pair if t is not None) > budget // 2:
                    collect()
            collect()
    finally:
        report.close()
    return values, indices
