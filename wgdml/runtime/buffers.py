"""Buffers: made, pooled, shared as scratch, and freed where memory is short.

Finalizers run in any thread and at any time, even while that thread is inside this module. So they
only do what is atomic, and tidy up where no lock has to be waited for. Ctrl-C comes when a call
returns, so between two calls the books agree with the lists.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from contextlib import suppress
from typing import Any

import wgpu
from wgpu._async import detect_current_call_soon_threadsafe

from .context import Context
from .errors import out_of_memory
from .process import interruptible, locked

STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
_POOLED_BYTES = 1 << 30
_SMALLEST_BUFFER = 256
_BUFFERS_KEPT = 1024
_SMALL_SIZES = tuple(1 << n for n in range(8, 20))  # bytes
_SMALL_KEPT = 64  # of each small size
_CHECKED = 1 << 20  # bytes: smaller buffers find room where Python itself does
_MARK = b"mark"


class Pool:
    """Free buffers by size. The least recently given back leave when they take too much room.

    Small ones have lists of their own, which need no lock and no book-keeping.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        # Buffers in use: a collected cycle must not finalize one with its Memory.
        self.used: dict[int, Any] = {}
        self._small: dict[int, list[Any]] = {size: [] for size in _SMALL_SIZES}
        self._large: OrderedDict[int, list[Any]] = OrderedDict()
        self._large_bytes = 0
        self._large_count = 0
        self._returned: deque[tuple[int, Any]] = deque()
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """The bytes of all free buffers."""
        return self._large_bytes + sum(size * len(buffers) for size, buffers in self._small.items())

    @property
    def count(self) -> int:
        return self._large_count + sum(map(len, self._small.values()))

    def take(self, size: int) -> Any | None:
        """A free buffer of exactly this size."""
        small = self._small.get(size)
        if small is not None:
            try:
                return small.pop()
            except IndexError:
                return None
        return locked(self._lock, self._take, size)

    def _take(self, size: int) -> Any | None:
        self._tidy()
        buffers = self._large.get(size)
        if not buffers:
            return None
        self._large_bytes -= size
        self._large_count -= 1
        return buffers.pop()

    def give(self, size: int, buffer: Any) -> None:
        """Takes a buffer back. All work with it must be submitted; that work may still run."""
        small = self._small.get(size)
        if small is not None and len(small) < _SMALL_KEPT:
            small.append(buffer)
            return
        if small is not None:
            buffer.destroy()
            return
        self._returned.append((size, buffer))
        locked(self._lock, self._tidy, wait=False)

    def clear(self) -> None:
        for size in _SMALL_SIZES:
            while (buffer := self.take(size)) is not None:
                buffer.destroy()
        locked(self._lock, self._drop_all)

    def close(self) -> None:
        """Keeps none from now on: those that come back are freed."""
        self.most_bytes = 0
        self.clear()
        self._small = {}

    def _drop_all(self) -> None:
        self._tidy()
        while self._large_count:
            self._drop()

    def _tidy(self) -> None:
        returned = self._returned
        while returned:
            size, buffer = returned.popleft()
            buffers = self._large.setdefault(size, [])
            self._large.move_to_end(size)
            self._large_bytes += size
            self._large_count += 1
            buffers.append(buffer)
        while self._large_count and (self._large_bytes > self.most_bytes or self._large_count > _BUFFERS_KEPT):
            self._drop()

    def _drop(self) -> None:
        size, buffers = next(iter(self._large.items()))
        if not buffers:
            del self._large[size]
            return
        self._large_bytes -= size
        self._large_count -= 1
        buffers.pop(0).destroy()


class Memory:
    """A buffer from the pool; it goes back when no tensor is left over it.

    ``shared`` buffers were shown to the caller, who may hold or destroy them: they never go back.
    """

    __slots__ = ("buffer", "pool", "shared", "size")

    def __init__(self, pool: Pool, size: int, buffer: Any) -> None:
        self.pool = pool
        self.size = size
        self.buffer = buffer
        self.shared = False
        pool.used[id(buffer)] = buffer

    def __del__(self) -> None:
        del self.pool.used[id(self.buffer)]
        if not self.shared:
            self.pool.give(self.size, self.buffer)


class Buffers:
    """Makes the buffers of one device, and keeps those that are free."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._pools: list[Pool] = []
        self.pool = self.new_pool(_POOLED_BYTES)
        self._scratch: Any = None

    def new_pool(self, most_bytes: int) -> Pool:
        """A pool whose buffers are freed when memory is short."""
        self._pools.append(Pool(most_bytes))
        return self._pools[-1]

    def create(self, size: int, usage: int) -> Any:
        """A new buffer. ``MemoryError`` where there is no room, also without the free buffers."""
        self.check_size("a buffer", size)
        for attempt in range(2):
            try:
                buffer = self._created(size, usage)
                break
            except wgpu.GPUError as error:
                if attempt or not out_of_memory(error):
                    self._context.fail(error, f"making a buffer of {size} bytes")
                self._make_room()
        self._context.counters["buffers"] += 1
        return buffer

    def _created(self, size: int, usage: int) -> Any:
        buffer = self._context.gpu_device.create_buffer(size=size, usage=usage)
        # On OpenGL one that finds no memory is made all the same (docs/driver-bugs.md).
        if usage == STORAGE and size >= _CHECKED and self._may_ask() and not self._holds(buffer):
            buffer.destroy()
            raise wgpu.GPUOutOfMemoryError("OpenGL made a buffer without memory")
        return buffer

    def _may_ask(self) -> bool:
        """Is it OpenGL, outside of event loops? To ask is to wait, and those must not."""
        return self._context.adapter_info["backend_type"] == "OpenGL" and detect_current_call_soon_threadsafe() is None

    def _holds(self, buffer: Any) -> bool:
        """Whether a buffer keeps what is written into it."""
        queue, last = self._context.gpu_device.queue, (buffer.size - len(_MARK)) // 4 * 4
        queue.write_buffer(buffer, last, _MARK)
        return bool(interruptible(queue.read_buffer, buffer, last, len(_MARK)) == _MARK)

    def _make_room(self) -> None:
        """Frees the buffers that no tensor and no transfer uses."""
        for pool in self._pools:
            pool.clear()
        # wgpu keeps a destroyed buffer until the work with it is done, so wait for that.
        gpu = self._context.gpu_device
        with suppress(wgpu.GPUError, RuntimeError, AttributeError):
            last = gpu.create_buffer(size=4, usage=wgpu.BufferUsage.COPY_SRC)
            interruptible(gpu.queue.read_buffer, last)

    def scratch(self, size: int) -> Any:
        """The scratch that all plans share. Work is in order, and none needs it afterwards."""
        scratch = self._scratch
        if scratch is None or scratch.size < size:
            scratch = locked(self._context.lock, self._larger_scratch, size)
        return scratch

    def _larger_scratch(self, size: int) -> Any:
        scratch = self._scratch
        if scratch is None or scratch.size < size:
            rounded = min(1 << max(16, (size - 1).bit_length()), self.largest)
            if size > 1 << 26:
                rounded = size
            scratch = self._scratch = self.create(rounded, STORAGE)
            self._context.counters["scratch_bytes"] = rounded
        return scratch

    def trim(self) -> None:
        """Gives back all memory that no tensor uses."""
        for pool in self._pools:
            pool.clear()
        self._scratch = None
        self._context.counters["scratch_bytes"] = 0

    def close(self) -> None:
        """Gives back all memory that no tensor uses, and from now on that of tensors that go."""
        self.trim()
        for pool in self._pools:
            pool.close()

    # -- memory of tensors --

    @property
    def largest(self) -> int:
        """Bytes of the largest buffer, in whole words: a limit may be an odd number."""
        limit: int = self._context.limits["max-buffer-size"]
        return limit // 4 * 4

    def check_size(self, name: str, size: int) -> None:
        """``MemoryError`` for more bytes than the largest buffer."""
        if size > self.largest:
            limit = self._context.limits["max-buffer-size"]
            whole = ", in whole words" if size <= limit else ""
            raise MemoryError(f"{name} of {size} bytes is over this device's largest buffer of {limit} bytes{whole}")

    def class_of(self, name: str, size: int) -> int:
        """The size of buffers for tensors of ``size`` bytes: one of few, to be found again."""
        self.check_size(name, size)
        step = 1 << (max(size, _SMALLEST_BUFFER) - 1).bit_length() if size <= 1 << 20 else 1 << 18
        rounded = -(-size // step) * step or step
        return min(rounded, self.largest)

    def allocate(self, name: str, size: int) -> Memory:
        """Memory for a tensor of ``size`` bytes, from the pool where it has some."""
        return self.allocate_class(self.class_of(name, size))

    def allocate_class(self, rounded: int) -> Memory:
        """Memory of a size that ``class_of`` gave."""
        if self._context.gone is not None:
            self._context.check()
        buffer = self.pool.take(rounded)
        if buffer is None:
            buffer = self.create(rounded, STORAGE)
        return Memory(self.pool, rounded, buffer)
