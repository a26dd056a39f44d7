"""Buffers that are used again.

Finalizers run in any thread and at any time, even while that thread is inside this module. So they only do what is atomic, and tidy
up where no lock has to be waited for. Ctrl-C comes when a call returns, so between two calls the books agree with the lists.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from typing import Any

from .interrupts import locked

__all__ = ["Memory", "Pool"]

_BUFFERS_KEPT = 1024
_SMALL_SIZES = tuple(1 << n for n in range(8, 20))  # bytes
_SMALL_KEPT = 64  # of each small size


class Pool:
    """Free buffers by size. The least recently given back leave when they take too much room.

    Small ones have lists of their own, which need no lock and no book-keeping.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        # Buffers in use: else a collected cycle would finalize a buffer together with the Memory that gives it back.
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
        """Frees every buffer."""
        for size in _SMALL_SIZES:
            while (buffer := self.take(size)) is not None:
                buffer.destroy()
        locked(self._lock, self._drop_all)

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

    ``shared`` buffers were shown to the caller, who may hold them, record them or destroy them: they never go back.
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
