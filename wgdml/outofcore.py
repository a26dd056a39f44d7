"""The selections but sorts, of arrays larger than the device's memory, or the host's.

The array is cut into blocks. Each is uploaded while a running top-k on the device takes the ones
before it.
"""

from __future__ import annotations

import builtins
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import prod
from typing import Any, Literal, Protocol, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arguments import as_axes, as_axis, as_dtype, as_flag, as_index_dtype, as_int, as_k, as_order, as_sizes, check_block, with_nan
from .contract import check_holds
from .lines import Wanted, batch_of, first_pairs
from .results import TopKResult
from .running import RunningTopK, running_of, take_items
from .runtime.default import as_device
from .runtime.device import Device
from .runtime.executor import Executor
from .runtime.tensor import Tensor, as_numpy, new_tensor
from .runtime.transfers import uploads
from .selection import Order, packed_strides

__all__ = ["Progress", "Source", "argmax", "argmin", "block_sizes", "max", "min", "select", "top_k"]

#: Called after each block with the bytes done and the bytes there are. "auto": a bar on a terminal.
Progress = Callable[[int, int], None] | Literal["auto"] | None

_BLOCK_BYTES = 32 << 20
_PAGE = 4096
_BAR_AFTER = 2.0  # seconds


class Source(Protocol):
    """What can be read block by block: an array, a memory map, an HDF5 or Zarr data set."""

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
    nan: Literal["greatest", "last"] = "greatest",
    device: Device | None = None,
    block_bytes: SupportsIndex | None = None,
    progress: Progress = "auto",
) -> TopKResult:
    """``wgdml.top_k`` of a source of any size.

    ``block_bytes``: the size of a block, by default 32 MiB or an eighth of the device's largest
    buffer. The device holds two of them, the host two more, and a few times k pairs.
    ``progress``: a function of (bytes done, bytes in all), "auto" (a bar on a terminal if the work
    takes long) or None.
    Raises as ``wgdml.top_k`` does, and ``MemoryError`` where k pairs do not fit the device.
    """
    order = as_order(mode, nan)
    _check_source(x)
    along = as_axis(axis, len(x.shape))
    wanted = Wanted((along,), as_k(k, x.shape[along]), order, False, True, as_index_dtype(index_dtype))
    values, indices = select(x, wanted, device, block_bytes, progress)
    return TopKResult(values, indices)


def argmax(
    x: Source,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    index_dtype: DTypeLike = "int64",
    nan: Literal["greatest", "last"] = "greatest",
    device: Device | None = None,
    block_bytes: SupportsIndex | None = None,
    progress: Progress = "auto",
) -> Any:
    """``wgdml.argmax`` of a source of any size. ``block_bytes``, ``progress``: as of ``top_k``."""
    order = with_nan(Order.MAXIMUM, nan)
    return _reduce(x, axis, keepdims, select_last_index, order, False, index_dtype, device, block_bytes, progress)[1]


def argmin(
    x: Source,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    select_last_index: bool = False,
    index_dtype: DTypeLike = "int64",
    nan: Literal["greatest", "last"] = "greatest",
    device: Device | None = None,
    block_bytes: SupportsIndex | None = None,
    progress: Progress = "auto",
) -> Any:
    """``wgdml.argmin`` of a source of any size. ``block_bytes``, ``progress``: as of ``top_k``."""
    order = with_nan(Order.MINIMUM, nan)
    return _reduce(x, axis, keepdims, select_last_index, order, False, index_dtype, device, block_bytes, progress)[1]


def max(
    x: Source,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    nan: Literal["greatest", "last"] = "greatest",
    return_indices: bool = False,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
    block_bytes: SupportsIndex | None = None,
    progress: Progress = "auto",
) -> Any:
    """``wgdml.max`` of a source of any size. ``block_bytes``, ``progress``: as of ``top_k``."""
    order, both = with_nan(Order.MAXIMUM, nan), as_flag("return_indices", return_indices)
    found = _reduce(x, axis, keepdims, False, order, True, index_dtype, device, block_bytes, progress)
    return TopKResult(*found) if both else found[0]


def min(
    x: Source,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    nan: Literal["greatest", "last"] = "greatest",
    return_indices: bool = False,
    index_dtype: DTypeLike = "int64",
    device: Device | None = None,
    block_bytes: SupportsIndex | None = None,
    progress: Progress = "auto",
) -> Any:
    """``wgdml.min`` of a source of any size. ``block_bytes``, ``progress``: as of ``top_k``."""
    order, both = with_nan(Order.MINIMUM, nan), as_flag("return_indices", return_indices)
    found = _reduce(x, axis, keepdims, False, order, True, index_dtype, device, block_bytes, progress)
    return TopKResult(*found) if both else found[0]


def _check_source(x: Any) -> None:
    if isinstance(x, Tensor | type) or not all(hasattr(x, name) for name in ("shape", "dtype", "__getitem__")):
        raise TypeError(f"x must have shape, dtype and x[slices], in the host's reach, which {type(x).__name__} has not")
    if not isinstance(x.shape, Sequence):
        raise TypeError(f"x.shape must be a sequence of sizes, not {x.shape!r}")
    as_sizes(x.shape, "x.shape")
    as_dtype(x.dtype, "x.dtype", swapped=True)


def _reduce(
    x: Source, axis: Any, keepdims: bool, last_index: bool, order: Order, has_values: bool, index_dtype: DTypeLike, *how: Any
) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Values, if wanted, and indices of first pairs. ``how``: device, bytes a block, progress."""
    _check_source(x)
    axes = as_axes(axis, x.shape, has_values)
    keeps, last = as_flag("keepdims", keepdims), as_flag("select_last_index", last_index)
    values, indices = select(x, Wanted(axes, 1, order, last, has_values, as_index_dtype(index_dtype)), *how)
    shape = batch_of(x.shape, axes, keeps)
    return None if values is None else values.reshape(shape), indices.reshape(shape)


def block_sizes(
    shape: Sequence[int], memory_order: Sequence[int], axes: Sequence[int], k: int, itemsize: int, block_bytes: int
) -> tuple[int, ...]:
    """The sizes of a block, at most ``block_bytes``, in long runs of memory.

    ``memory_order``: the dimensions, the one with the largest stride first. Blocks grow from the
    innermost dimension outwards, an outer axis after the inner ones are whole, so that each block's
    indices are one range. Where sequences are cut, a block has few of them: the partial pairs of
    all of them wait on the device.
    """
    pair_bytes = k * (itemsize + 8)
    room = builtins.max(1, block_bytes // itemsize)
    inner_first = sorted(axes, reverse=True)
    sizes = [1] * len(shape)
    elements = rows = 1
    uncut = {a for a in axes if shape[a] > 1}
    cut = False
    for dimension in reversed(memory_order):
        if dimension in axes:
            axis = inner_first.pop(0)
            sizes[axis] = 1 if cut else builtins.max(1, builtins.min(shape[axis], room // elements))
            cut = cut or sizes[axis] < shape[axis]
            if not cut:
                uncut.discard(axis)
            elements *= sizes[axis]
        else:
            most = block_bytes // pair_bytes
            if uncut:
                most = builtins.max(most // 16, builtins.min(_PAGE // itemsize, most))
            size = builtins.max(1, builtins.min(shape[dimension], room // elements, most // rows))
            sizes[dimension] = size
            rows *= size
            elements *= size
    return tuple(-(-n // -(-n // size)) for n, size in zip(shape, sizes, strict=True))


def _ranges(size: int, block: int) -> list[slice]:
    """A dimension in parts of at most ``block``, which differ by one at most."""
    parts = -(-size // block)
    bounds = [size * i // parts for i in range(parts + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(bounds)]


@contextmanager
def _reporting(progress: Progress, total: int) -> Iterator[Callable[[int], None]]:
    """To be told each block's bytes. Calls the caller's function, or shows a bar on a terminal."""
    shows = progress == "auto" and _is_terminal(sys.stderr)
    done, started, bar = 0, time.monotonic(), None
    with ExitStack() as shown:

        def add(count: int) -> None:
            nonlocal done, bar
            done += count
            if callable(progress):
                progress(done, total)
            elif shows and time.monotonic() - started > _BAR_AFTER:
                bar = bar or shown.enter_context(_bar(total))
                bar.update(bar.task_ids[0], completed=done)

        yield add


def _is_terminal(stream: Any) -> bool:
    """A program's standard error may be None, closed, or an object that can write alone."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def _bar(total: int) -> Any:
    from rich.progress import DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

    from . import terminal

    bar = terminal.progress(1, DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    bar.add_task("", total=total)
    return bar


class _Pass:
    """One pass over a source: what is asked for, what it is cut into, and the results."""

    def __init__(self, x: Source, wanted: Wanted, device: Executor, block_bytes: SupportsIndex | None) -> None:
        self.x, self.wanted, self.device = x, wanted, device
        self.axes = wanted.axes
        self.shape = tuple(int(n) for n in x.shape)
        self.dtype = as_dtype(x.dtype, "x.dtype", swapped=True)
        strides = x.strides if isinstance(x, np.ndarray) else [0] * len(self.shape)
        #: The dimensions, the one with the largest stride first; row-major where x does not say.
        self.memory_order = tuple(sorted(range(len(self.shape)), key=lambda d: -abs(strides[d])))
        item = self.dtype.itemsize
        largest = builtins.min(device.context.limits["max-buffer-size"], 0xFFFFFFF0) // 16 * 16
        budget = builtins.min(_BLOCK_BYTES, largest // 8) if block_bytes is None else int(block_bytes)
        self.budget = builtins.min(builtins.max(budget, item), largest)
        shape = tuple(wanted.k if d in self.axes else n for d, n in enumerate(self.shape))
        self.values = np.empty(shape, self.dtype) if wanted.has_values else None
        self.indices = np.empty(shape, wanted.index_dtype)
        #: Results that wait on the device, as reading them back waits for it.
        self.waiting: list[tuple[tuple[slice, ...], TopKResult]] = []

    def run(self, progress: Progress) -> None:
        wanted, item = self.wanted, self.dtype.itemsize
        sizes = block_sizes(self.shape, self.memory_order, self.axes, wanted.k, item, self.budget)
        # Whole sequences are selected at once. To merge short ones takes up to three times as long.
        whole = all(sizes[a] == self.shape[a] for a in self.axes)
        kept: dict[tuple[int, ...], RunningTopK] = {}
        total, own = prod(self.shape) * item, self.device
        with _reporting(progress, total) as report, uploads(own.context, own.buffers, prod(sizes) * item) as upload:
            for region in self._parts([d for d in self.memory_order if d not in self.axes], sizes):
                batch = tuple(region[d].stop - region[d].start for d in sorted(region))
                if not whole and batch not in kept:
                    kept[batch] = running_of(wanted.k, self.dtype, batch, wanted.order, wanted.last_index, self.device)
                found = self._first(region, sizes, upload, report, kept.get(batch))
                place = tuple(slice(None) if d in self.axes else region[d] for d in range(len(self.shape)))
                self.waiting.append((place, found))
                if sum(part.nbytes for _, pair in self.waiting for part in pair if part is not None) > self.budget // 2:
                    self._collect()
        self._collect()

    def _first(
        self, region: dict[int, slice], sizes: Sequence[int], upload: Any, report: Any, running: RunningTopK | None
    ) -> TopKResult:
        """The first pairs of sequences: of one block, or of several that ``running`` merges."""
        wanted = self.wanted
        if running is not None:
            running.reset()
        for part in self._parts(self.axes, sizes):
            # Blocks of a sequence come in ascending order of index, so positions go on.
            block = self._read(region | part)
            items = self._tensor(upload(block), block)
            if running is None:
                found = first_pairs(items, wanted)
            else:
                take_items(running, items, self.axes)
            report(block.nbytes)
        return found if running is None else running.result(index_dtype=wanted.index_dtype)

    def _parts(self, dimensions: Sequence[int], sizes: Sequence[int]) -> Iterator[dict[int, slice]]:
        """The parts of these dimensions, the last one changing fastest."""
        for ranges in itertools.product(*(_ranges(self.shape[d], sizes[d]) for d in dimensions)):
            yield dict(zip(dimensions, ranges, strict=True))

    def _read(self, part: dict[int, slice]) -> NDArray[Any]:
        """A block, its dimensions in memory order."""
        ranges = [part[d] for d in range(len(part))]
        block = as_numpy(self.x[tuple(ranges)])
        check_block(block, self.dtype, tuple(r.stop - r.start for r in ranges))
        return block.transpose(self.memory_order)

    def _tensor(self, buffer: Any, block: NDArray[Any]) -> Tensor:
        """A block in a buffer, its dimensions as they are in the source."""
        stored = new_tensor(self.device, buffer, self.dtype, block.shape, packed_strides(block.shape))
        return stored.transpose(tuple(int(d) for d in np.argsort(self.memory_order)))

    def _collect(self) -> None:
        """Reads all that waits: for each sequence its pairs, side by side."""
        for place, found in self.waiting:
            for array, part in zip((self.values, self.indices), found, strict=True):
                if array is not None:
                    got = part.numpy()
                    array[place] = np.moveaxis(got, -1, self.axes[0]) if len(self.axes) == 1 else got.reshape(array[place].shape)
        self.waiting.clear()


def select(
    x: Source, wanted: Wanted, device: Executor | None = None, block_bytes: SupportsIndex | None = None, progress: Progress = "auto"
) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """Values, if wanted, and indices as NumPy arrays that keep x's dimensions."""
    check_holds("index_dtype", wanted.index_dtype, prod(x.shape[a] for a in wanted.axes))
    if block_bytes is not None and as_int("block_bytes", block_bytes) < 1:
        raise ValueError(f"block_bytes must be at least 1, not {block_bytes}")
    if progress is not None and not callable(progress) and not (isinstance(progress, str) and progress == "auto"):
        raise TypeError(f'progress must be a function, "auto" or None, not {progress!r}')
    own = _Pass(x, wanted, as_device(device), block_bytes)
    if own.indices.size:
        own.run(progress)
    return own.values, own.indices
