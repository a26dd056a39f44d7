"""Buffers that are used again.

Finalizers run in any thread and at any time, even while that thread is inside this module. So they only append to a deque, which
is atomic, and tidy up where no lock has to be waited for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from typing import Any

__all__ = ["Memory", "Pool"]

_BUFFERS_KEPT = 1024


class Pool:
    """Free buffers by size; the least recently given back leave when they take too much room."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.count = 0
        self._free: OrderedDict[int, list[Any]] = OrderedDict()
        self._returned: deque[tuple[int, Any]] = deque()
        # Buffers in use: else a collected cycle would finalize a buffer together with the Memory that gives it back.
        self.used: dict[int, Any] = {}
        self._lock = threading.Lock()

    def take(self, size: int) -> Any | None:
        """A free buffer of exactly this size."""
        with self._lock:
            self._tidy()
            buffers = self._free.get(size)
            if not buffers:
                return None
            self.bytes -= size
            self.count -= 1
            return buffers.pop()

    def give(self, size: int, buffer: Any) -> None:
        """Takes a buffer back. All work with it must be submitted; that work may still run."""
        self._returned.append((size, buffer))
        if self._lock.acquire(blocking=False):
            try:
                self._tidy()
            finally:
                self._lock.release()

    def clear(self) -> None:
        """Frees every buffer."""
        with self._lock:
            self._tidy()
            while self.count:
                self._drop()

    def _tidy(self) -> None:
        returned = self._returned
        while returned:
            size, buffer = returned.popleft()
            buffers = self._free.get(size)
            if buffers is None:
                buffers = self._free[size] = []
            buffers.append(buffer)
            self._free.move_to_end(size)
            self.bytes += size
            self.count += 1
        while self.count and (self.bytes > self.most_bytes or self.count > _BUFFERS_KEPT):
            self._drop()

    def _drop(self) -> None:
        size, buffers = next(iter(self._free.items()))
        if not buffers:
            del self._free[size]
            return
        buffers.pop(0).destroy()
        self.bytes -= size
        self.count -= 1


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
