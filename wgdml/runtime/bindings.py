"""Where a binding may begin, and bind groups that are made once for each set of buffers."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from .process import locked

_ALIGNMENT = 256  # bytes: where a binding may begin on every device

#: (pipeline, bind group, grid) of each dispatch
Steps = list[tuple[Any, Any, tuple[int, int, int]]]

#: A plan's tensors by name: the buffer of each and the byte at which its binding begins.
Resources = Mapping[str, tuple[Any, int]]


class Range(NamedTuple):
    """Bytes of a buffer."""

    buffer: Any
    start: int
    end: int


def check_overlap(name: str, ranges: Mapping[str, Range]) -> None:
    """``ValueError`` where the range of that name shares bytes with another's."""
    found = ranges[name]
    for other, (buffer, start, end) in ranges.items():
        if other != name and found.buffer is buffer and found.start < end and start < found.end:
            raise ValueError(
                f"{name} must not share memory with {other}: bytes {found.start} to {found.end} overlap {start} to {end}"
            )


def aligned(offset: int, element_bytes: int) -> tuple[int, int]:
    """Where the binding of a tensor at this byte begins, and the elements before its first."""
    start = offset // _ALIGNMENT * _ALIGNMENT
    return start, (offset - start) // element_bytes


def fits_vectors(buffer: Any, end: int) -> bool:
    """Can the elements that end at this byte be read as 16-byte vectors?"""
    return bool(-(-end // 16) * 16 <= buffer.size)


class BindGroups:
    """The bind groups of all plans.

    They leave with their plan, with any of their buffers, and when least recently used of more than
    ``most``. A bind group keeps its buffers' memory alive, so none may outlive a buffer that nobody
    else wants. Buffers and plans are known by numbers that are never used again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._steps: OrderedDict[tuple[Hashable, ...], Steps] = OrderedDict()
        self._keys_of: dict[int, set[tuple[Hashable, ...]]] = {}
        self._watched: dict[int, weakref.ref[Any]] = {}
        self._gone: deque[int] = deque()  # appended to by finalizers, see buffers.py
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._steps)

    def get(self, key: tuple[Hashable, ...]) -> Steps | None:
        if not self._gone and len(self._steps) <= self._most // 2:
            return self._steps.get(key)  # nothing will have to leave soon
        return locked(self._lock, self._get, key)

    def put(self, key: tuple[Hashable, ...], steps: Steps, owners: dict[int, Any]) -> None:
        """Keeps the steps for as long as every owner lives; ``owners``: by their numbers."""
        locked(self._lock, self._put, key, steps, owners)

    def forget(self, number: int) -> None:
        self._gone.append(number)
        locked(self._lock, self._tidy, wait=False)

    def clear(self) -> None:
        locked(self._lock, self._clear)

    def _watch(self, number: int) -> Any:
        me = weakref.ref(self)

        def gone(_: object) -> None:
            groups = me()
            if groups is not None:
                groups.forget(number)

        return gone

    # What follows runs under the lock.

    def _get(self, key: tuple[Hashable, ...]) -> Steps | None:
        self._tidy()
        steps = self._steps.get(key)
        if steps is not None:
            self._steps.move_to_end(key)
        return steps

    def _put(self, key: tuple[Hashable, ...], steps: Steps, owners: dict[int, Any]) -> None:
        self._tidy()
        # Watched before kept: interrupted, it keeps nothing that nobody watches.
        for number, owner in owners.items():
            self._keys_of.setdefault(number, set()).add(key)
            if number not in self._watched:
                self._watched[number] = weakref.ref(owner, self._watch(number))
        self._steps[key] = steps
        while len(self._steps) > self._most:
            self._forget(next(iter(self._steps)))

    def _clear(self) -> None:
        self._steps.clear()
        self._keys_of.clear()
        self._watched.clear()

    def _tidy(self) -> None:
        while self._gone:
            number = self._gone.popleft()
            self._watched.pop(number, None)
            for key in self._keys_of.pop(number, ()):
                self._forget(key)

    def _forget(self, key: tuple[Hashable, ...]) -> None:
        self._steps.pop(key, None)
        for number in key[0::2]:
            keys = self._keys_of.get(number)  # type: ignore[call-overload]
            if keys is not None:
                keys.discard(key)
                if not keys:
                    del self._keys_of[number]  # type: ignore[arg-type]
                    self._watched.pop(number, None)  # type: ignore[call-overload]
