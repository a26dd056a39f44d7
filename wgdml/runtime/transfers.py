"""Bytes between NumPy and the device through staging buffers that are kept.

A new staging buffer for every transfer costs two to three times the transfer; a kept one is mapped again. Long transfers go through
two of them by turns, so that the device fills or empties one while the host works on the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import numpy as np
import wgpu
from numpy.typing import NDArray

from .buffers import Buffers, Pool
from .context import Context
from .process import interruptible, uninterrupted

__all__ = ["CHUNK", "Span", "Transfers", "UploadRing"]

CHUNK = 16 << 20  # bytes of the largest staging buffer
_SMALL_UPLOAD = 1 << 20  # up to here the queue's own write is as fast
_KEPT_BYTES = 8 * CHUNK  # for each direction

_READ = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
_WRITE = wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC

# Every map for reading follows a submission, so that wgpu-py need not submit an empty one of its own to flush the queue.
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


class UploadRing:
    """Writes data through staging buffers by turns, so that the device empties one while the host fills the other."""

    def __init__(self, context: Context, staging: Sequence[Any]) -> None:
        self._gpu = context.gpu_device
        self._staging = staging
        self._mapping: list[Any] = [None] * len(staging)
        self._turn = 0

    def _ask(self, turn: int) -> None:
        uninterrupted(self._start, turn)  # a buffer that is being mapped must not lose what is waited for

    def _start(self, turn: int) -> None:
        if self._mapping[turn] is None:
            self._mapping[turn] = self._staging[turn].map_async(wgpu.MapMode.WRITE)

    def write(self, data: NDArray[np.uint8], target: Any, offset: int = 0, *, more: bool = False) -> None:
        """Bytes to a buffer, before all work that is submitted later. ``more``: other data will follow these."""
        step = self._staging[0].size
        for start in range(0, data.size, step):
            part = data[start : start + step]
            turn = self._turn
            self._turn = (turn + 1) % len(self._staging)
            self._ask(turn)
            if more or start + step < data.size:
                # Not sooner: while wgpu waits for a buffer, submissions have to wait too, and what was to be done with the
                # part before has been submitted by now. It arrives while this part is written.
                self._ask(self._turn)
            staging = self._staging[turn]
            interruptible(self._mapping[turn].sync_wait)
            staging.write_mapped(part, 0)
            staging.unmap()
            self._mapping[turn] = None
            encoder = self._gpu.create_command_encoder()
            encoder.copy_buffer_to_buffer(staging, 0, target, offset + start, -(-part.size // 4) * 4)
            # It may call wgpu-py back for the other buffer, and cffi drops what is raised there.
            uninterrupted(self._gpu.queue.submit, [encoder.finish()])

    def finish(self) -> None:
        """Waits until all data has arrived."""
        for turn in range(len(self._staging)):
            self._ask(turn)
            interruptible(self._mapping[turn].sync_wait)


class Transfers:
    """Moves data between NumPy and the buffers of one device."""

    def __init__(self, context: Context, buffers: Buffers) -> None:
        self._context = context
        self._buffers = buffers
        self._reading = buffers.new_pool(_KEPT_BYTES)
        self._writing = buffers.new_pool(_KEPT_BYTES)

    @contextmanager
    def _staging(self, pool: Pool, usage: int, sizes: Sequence[int]) -> Iterator[list[Any]]:
        """Staging buffers for a transfer; given up, not kept, where an error or Ctrl-C leaves one mapped."""
        staging: list[Any] = []
        try:
            for size in sizes:
                rounded = min(CHUNK, 1 << max(12, (size - 1).bit_length()))
                staging.append(pool.take(rounded) or self._buffers.create(rounded, usage))
            yield staging
        except BaseException:
            for buffer in staging:
                buffer.destroy()
            raise
        for buffer in staging:
            pool.give(buffer.size, buffer)

    # -- to the device --

    def write(self, data: NDArray[Any], buffer: Any) -> None:
        """A contiguous array to a buffer's start, before all work that is submitted later; its last word is filled with zeros."""
        self._context.check()
        try:
            self._write(data.reshape(-1).view(np.uint8), buffer)
        except (wgpu.GPUError, RuntimeError, AttributeError) as error:
            self._context.fail(error, "writing to the device")

    def _write(self, flat: NDArray[np.uint8], buffer: Any) -> None:
        left = flat.size % 4
        whole = flat.size - left if flat.size > _SMALL_UPLOAD else 0
        last = flat[whole:]
        if left:
            last = np.concatenate([last, np.zeros(4 - left, np.uint8)])
        if last.size:
            self._context.gpu_device.queue.write_buffer(buffer, whole, last)
        if whole:
            with self._staging(self._writing, _WRITE, [whole] if whole <= CHUNK else [CHUNK, CHUNK]) as staging:
                UploadRing(self._context, staging).write(flat[:whole], buffer)

    # -- from the device --

    def read(self, spans: Sequence[Span], encoder: Any = None, doing: str = "reading from the device") -> list[NDArray[Any]]:
        """The arrays that lie in buffers, as new arrays, after all submitted work.

        ``encoder``: commands to submit before. All takes one submission and one wait where one staging buffer holds the arrays.
        """
        self._context.check()
        try:
            rounds = _rounds(spans)
            with self._staging(self._reading, _READ, [pieces[-1].place + pieces[-1].size for pieces in rounds[:2]]) as staging:
                return self._read(spans, rounds, staging, encoder or self._context.gpu_device.create_command_encoder())
        except (wgpu.GPUError, RuntimeError, AttributeError) as error:
            self._context.fail(error, doing)

    def _read(
        self, spans: Sequence[Span], rounds: Sequence[Sequence[_Piece]], staging: Sequence[Any], encoder: Any
    ) -> list[NDArray[Any]]:
        arrays: list[Any] = [None] * len(spans)
        self._fetch(spans, rounds[0], staging[0], encoder)
        for number, pieces in enumerate(rounds):
            buffer = staging[number % 2]
            mapped = self.map(buffer, -(-(pieces[-1].place + pieces[-1].size) // 8) * 8)
            if number + 1 < len(rounds):
                # Only now, as mapping waits for everything that was submitted before.
                encoder = self._context.gpu_device.create_command_encoder()
                self._fetch(spans, rounds[number + 1], staging[1 - number % 2], encoder)
            for span, start, size, place in pieces:
                _, _, shape, dtype = spans[span]
                if arrays[span] is None:
                    whole: NDArray[Any] = np.empty(shape, dtype)
                    arrays[span] = whole
                bytes_of = arrays[span].reshape(-1).view(np.uint8)
                bytes_of[start : start + size] = np.frombuffer(mapped, np.uint8, size, place)
            buffer.unmap()
        return arrays

    def _fetch(self, spans: Sequence[Span], pieces: Sequence[_Piece], staging: Any, encoder: Any) -> None:
        for span, start, size, place in pieces:
            buffer, offset, _, _ = spans[span]
            encoder.copy_buffer_to_buffer(buffer, offset + start, staging, place, -(-size // 4) * 4)
        self._context.gpu_device.queue.submit([encoder.finish()])

    @staticmethod
    def map(buffer: Any, size: int) -> Any:
        """The first bytes of a staging buffer, to be copied before ``unmap``, after the submitted work that fills it."""
        interruptible(uninterrupted(buffer.map_async, _MAP_READ, 0, size).sync_wait)
        return buffer.read_mapped(0, size, copy=False)


def _rounds(spans: Sequence[Span]) -> list[list[_Piece]]:
    """What goes through a staging buffer at a time. Places are multiples of eight, as wgpu-py maps."""
    rounds: list[list[_Piece]] = [[]]
    used = 0
    for number, (_, _, shape, dtype) in enumerate(spans):
        start, size = 0, prod(shape) * dtype.itemsize
        while start < size:
            if used == CHUNK:
                rounds.append([])
                used = 0
            count = min(size - start, CHUNK - used)
            rounds[-1].append(_Piece(number, start, count, used))
            start += count
            used += -(-count // 8) * 8
    return rounds
