"""Bytes between NumPy and the device through staging buffers that are kept.

A new staging buffer for every transfer costs two to three times the transfer; a kept one is mapped
again. Long transfers go through two of them by turns, so that the device fills or empties one while
the host works on the other.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from math import prod
from typing import Any, NamedTuple

import numpy as np
import wgpu
from numpy.typing import NDArray

from .buffers import STORAGE, Buffers, Pool
from .context import Context
from .process import before_callbacks, interruptible, uninterrupted
from .promises import on_either, outliving

CHUNK = 16 << 20  # bytes of the largest staging buffer
_SMALL_UPLOAD = 1 << 20  # up to here the queue's own write is as fast
_KEPT_BYTES = 8 * CHUNK  # for each direction
_PART = 1 << 20  # bytes of a staging buffer of a read that a loop awaits: it copies one at a time
_READING, _WRITING = "reading from the device", "writing to the device"  # as errors say it

_READ = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
_WRITE = wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC

# Every map for reading follows a submission, so wgpu-py need not submit an empty one to flush the
# queue.
_MAP_READ = "READ_NOSYNC"


class Span(NamedTuple):
    """A packed array in a buffer; the offset in bytes is a multiple of four."""

    buffer: Any
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class _Piece(NamedTuple):
    """A range of a span's bytes and its place in a staging buffer."""

    span: int
    start: int
    size: int
    place: int


class _UploadRing:
    """Writes through two staging buffers: the device empties one while the host fills the other."""

    def __init__(self, context: Context, staging: Sequence[Any]) -> None:
        self._context = context
        self._staging = staging
        self._mapping: list[Any] = [None] * len(staging)
        self._turn = 0

    def _ask(self, turn: int) -> None:
        # A buffer that is being mapped must not lose what is waited for.
        uninterrupted(self._start, turn)

    def _start(self, turn: int) -> None:
        if self._mapping[turn] is None:
            self._mapping[turn] = outliving(self._staging[turn].map_async(wgpu.MapMode.WRITE))

    def write(self, data: NDArray[np.uint8], target: Any, *, more: bool = False) -> None:
        """Bytes to a buffer's start, before all later work. ``more``: other data will follow."""
        step = self._staging[0].size
        for start in range(0, data.size, step):
            part = data[start : start + step]
            turn = self._turn
            self._turn = (turn + 1) % len(self._staging)
            self._ask(turn)
            if more or start + step < data.size:
                # Not sooner: while wgpu waits for a buffer, submissions have to wait too, and what
                # was to be done with the part before has been submitted by now.
                self._ask(self._turn)
            staging = self._staging[turn]
            interruptible(self._mapping[turn].sync_wait)
            staging.write_mapped(part, 0)
            staging.unmap()
            self._mapping[turn] = None
            encoder = self._context.gpu_device.create_command_encoder()
            encoder.copy_buffer_to_buffer(staging, 0, target, start, -(-part.size // 4) * 4)
            # It may call wgpu-py back for the other buffer, and cffi drops what is raised there.
            uninterrupted(self._context.submit, encoder)

    def finish(self) -> None:
        for turn in range(len(self._staging)):
            self._ask(turn)
            interruptible(self._mapping[turn].sync_wait)


@contextmanager
def uploads(context: Context, buffers: Buffers, size: int) -> Iterator[Callable[[NDArray[Any]], Any]]:
    """Uploads blocks of up to ``size`` bytes: while the device reduces one, the next is written.

    Each call returns the buffer that holds the block, row by row, for work that is submitted from
    now on. It holds the block until the block after the next is uploaded.
    """
    made = [buffers.create(-(-size // 16) * 16, usage) for usage in (_WRITE, _WRITE, STORAGE, STORAGE)]
    ring, turns = _UploadRing(context, made[:2]), cycle(made[2:])

    def upload(block: NDArray[Any]) -> Any:
        buffer = next(turns)
        with context.doing(_WRITING):
            ring.write(np.ascontiguousarray(block).reshape(-1).view(np.uint8), buffer, more=True)
        return buffer

    try:
        try:
            yield upload
        finally:
            with context.doing(_WRITING):
                ring.finish()
    finally:
        for buffer in made:
            buffer.destroy()


class Transfers:
    """Moves data between NumPy and the buffers of one device."""

    def __init__(self, context: Context, buffers: Buffers) -> None:
        self._context = context
        self._buffers = buffers
        #: Bytes of the largest staging buffer, by eights, as wgpu-py maps.
        self._chunk = min(CHUNK, context.limits["max-buffer-size"] // 8 * 8)
        self._reading = buffers.new_pool(_KEPT_BYTES)
        self._writing = buffers.new_pool(_KEPT_BYTES)

    @contextmanager
    def _staging(self, pool: Pool, usage: int, sizes: Sequence[int]) -> Iterator[list[Any]]:
        """Staging buffers for a transfer; given up where an error or Ctrl-C leaves one mapped."""
        staging: list[Any] = []
        try:
            for size in sizes:
                staging.append(self._take(pool, usage, size))
            yield staging
        except BaseException:
            for buffer in staging:
                buffer.destroy()
            raise
        for buffer in staging:
            pool.give(buffer.size, buffer)

    def _take(self, pool: Pool, usage: int, size: int) -> Any:
        rounded = min(self._chunk, 1 << max(12, (size - 1).bit_length()))
        return pool.take(rounded) or self._buffers.create(rounded, usage)

    # -- to the device --

    def write(self, data: NDArray[Any], buffer: Any) -> None:
        """A contiguous array, and zeros to a whole word, to a buffer's start, before later work."""
        self._context.check()
        flat = data.reshape(-1).view(np.uint8)
        left = flat.size % 4
        whole = flat.size - left if flat.size > _SMALL_UPLOAD else 0
        last = flat[whole:]
        if left:
            last = np.concatenate([last, np.zeros(4 - left, np.uint8)])
        with self._context.doing(_WRITING):
            if last.size:
                self._context.gpu_device.queue.write_buffer(buffer, whole, last)
            if whole:
                with self._staging(self._writing, _WRITE, [whole] if whole <= self._chunk else [self._chunk] * 2) as staging:
                    _UploadRing(self._context, staging).write(flat[:whole], buffer)

    # -- from the device --

    def read(self, spans: Sequence[Span], encoder: Any = None, doing: str = _READING) -> list[NDArray[Any]]:
        """The arrays that lie in buffers, as new arrays, after all submitted work.

        ``encoder``: commands to submit before. All takes one submission and one wait where one
        staging buffer holds the arrays.
        """
        self._context.check()
        with self._context.doing(doing):
            download = _Download(spans, self._chunk)
            with self._staging(self._reading, _READ, download.sizes[:2]) as staging:
                return self._read(download, staging, encoder or self._context.gpu_device.create_command_encoder())

    def _read(self, download: _Download, staging: Sequence[Any], encoder: Any) -> list[NDArray[Any]]:
        download.copy(0, staging[0], encoder)
        self._context.submit(encoder)
        for number, size in enumerate(download.sizes):
            buffer = staging[number % 2]
            mapped = self.map(buffer, size)
            if number + 1 < len(download.sizes):
                # Only now, as mapping waits for everything that was submitted before.
                encoder = self._context.gpu_device.create_command_encoder()
                download.copy(number + 1, staging[1 - number % 2], encoder)
                self._context.submit(encoder)
            download.take(number, mapped)
            buffer.unmap()
        return download.arrays

    @staticmethod
    def map(buffer: Any, size: int) -> Any:
        """The first bytes of a staging buffer after all work, to be copied before ``unmap``."""
        interruptible(uninterrupted(buffer.map_async, _MAP_READ, 0, size).sync_wait)
        return buffer.read_mapped(0, size, copy=False)

    def read_async(
        self, spans: Sequence[Span], arrived: Callable[[list[NDArray[Any]]], None], failed: Callable[[Exception], None]
    ) -> None:
        """Has this thread's event loop give the arrays to ``arrived``, or the error to ``failed``.

        The arrays are as they are after the work that is submitted by now.
        """
        download = _Download(spans, min(_PART, self._chunk))
        reading = _Reading(self._context, self._reading, download, arrived, failed)
        try:
            _under_way(self._context.gpu_device).add(reading)
            encoder = self._context.gpu_device.create_command_encoder()
            for number, size in enumerate(download.sizes):
                reading.staging.append(self._take(self._reading, _READ, size))
                download.copy(number, reading.staging[-1], encoder)
            self._context.submit(encoder)
            reading.ask()
        except Exception as error:
            reading.fail(error)


_readings: weakref.WeakKeyDictionary[Any, weakref.WeakSet[_Reading]] = weakref.WeakKeyDictionary()


def _under_way(gpu_device: Any) -> weakref.WeakSet[_Reading]:
    """The reads of a GPU device that event loops wait for, of all Devices on it."""
    known = _readings.get(gpu_device)
    if known is None:
        own: weakref.WeakSet[_Reading] = weakref.WeakSet()
        _poll_at_the_end(gpu_device, own)
        known = _readings.setdefault(gpu_device, own)
    return known


def _poll_at_the_end(gpu_device: Any, under_way: weakref.WeakSet[_Reading]) -> None:
    """Has a thread poll the device once more when it is destroyed with reads under way.

    wgpu-py's own thread stops then. Without another poll, who awaits them would wait for ever.
    """
    poller, found = gpu_device._poller, weakref.ref(gpu_device)

    def poll() -> None:
        poller.join()
        left = found()
        if left is not None and under_way:
            before_callbacks()
            left._poll(True)

    threading.Thread(target=poll, name="wgdml", daemon=True).start()


class _Download:
    """Arrays that come from spans through staging buffers of at most ``most`` bytes."""

    def __init__(self, spans: Sequence[Span], most: int) -> None:
        self._spans = spans
        self._rounds = _rounds(spans, most)
        self.arrays: list[Any] = [None] * len(spans)
        #: Bytes that are mapped of each staging buffer.
        self.sizes = [-(-(pieces[-1].place + pieces[-1].size) // 8) * 8 for pieces in self._rounds]

    def copy(self, number: int, staging: Any, encoder: Any) -> None:
        for span, start, size, place in self._rounds[number]:
            buffer, offset, _, _ = self._spans[span]
            encoder.copy_buffer_to_buffer(buffer, offset + start, staging, place, -(-size // 4) * 4)

    def take(self, number: int, mapped: Any) -> None:
        """Copies what a staging buffer holds into the arrays."""
        for span, start, size, place in self._rounds[number]:
            if self.arrays[span] is None:
                self.arrays[span] = np.empty(self._spans[span].shape, self._spans[span].dtype)
            bytes_of = self.arrays[span].reshape(-1).view(np.uint8)
            bytes_of[start : start + size] = np.frombuffer(mapped, np.uint8, size, place)


@dataclass(eq=False)
class _Reading:
    """A download that an event loop waits for, in staging buffers that nobody else uses meanwhile.

    They are filled by one submission, and mapped one after the other: the loop turns between the
    copies on the host.
    """

    context: Context
    pool: Pool
    download: _Download
    arrived: Callable[[list[NDArray[Any]]], None]
    failed: Callable[[Exception], None]
    number: int = 0  #: Of the staging buffer that is asked for.
    staging: deque[Any] = field(default_factory=deque)

    def ask(self) -> None:
        size = self.download.sizes[self.number]
        on_either(outliving(uninterrupted(self.staging[0].map_async, _MAP_READ, 0, size)), self._take, self.fail)

    def _take(self, _: None) -> None:
        try:
            if lost := self.context.probe(_READING):
                raise lost  # the device went with the buffer: reading that would end the process
            staging = self.staging[0]
            self.download.take(self.number, staging.read_mapped(0, self.download.sizes[self.number], copy=False))
            staging.unmap()
            self.number += 1
            self.pool.give(staging.size, self.staging.popleft())
            if self.staging:
                self.ask()
            else:
                self.arrived(self.download.arrays)
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Tells the error, and gives up the staging buffers: one of them may be mapped."""
        for staging in self.staging:
            staging.destroy()
        try:
            self.context.fail(error, _READING)
        except Exception as known:
            self.failed(known)


def _rounds(spans: Sequence[Span], most: int) -> list[list[_Piece]]:
    """What goes through a staging buffer at a time, at multiples of eight, as wgpu-py maps."""
    rounds: list[list[_Piece]] = [[]]
    used = 0
    for number, (_, _, shape, dtype) in enumerate(spans):
        start, size = 0, prod(shape) * dtype.itemsize
        while start < size:
            if used == most:
                rounds.append([])
                used = 0
            count = min(size - start, most - used)
            rounds[-1].append(_Piece(number, start, count, used))
            start += count
            used += -(-count // 8) * 8
    return rounds
