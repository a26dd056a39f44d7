"""Bytes between NumPy and the device through staging buffers that are kept.

A new staging buffer for every transfer costs two to three times the transfer; a kept one is mapped again. Long transfers go through
two of them by turns, so that the device fills or empties one while the host works on the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import wgpu
from numpy.typing import NDArray

from .interrupts import interruptible, uninterrupted
from .memory import Pool

if TYPE_CHECKING:
    from .device import Device

__all__ = ["CHUNK", "Staging"]

CHUNK = 16 << 20  # bytes of the largest staging buffer
_SMALL_UPLOAD = 1 << 20  # up to here the queue's own write is as fast
_KEPT_BYTES = 8 * CHUNK  # for each direction

_READ = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
_WRITE = wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC

# Every map for reading follows a submission, so that wgpu-py need not submit an empty one of its own to flush the queue.
_MAP_READ = "READ_NOSYNC"


def _size(size: int) -> int:
    return min(CHUNK, 1 << max(12, (size - 1).bit_length()))


class Staging:
    """The staging buffers of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._reading = Pool(_KEPT_BYTES)
        self._writing = Pool(_KEPT_BYTES)

    def clear(self) -> None:
        """Frees the buffers that no transfer is using."""
        self._reading.clear()
        self._writing.clear()

    def take(self, size: int) -> Any:
        """A staging buffer to copy ``size`` bytes into, at most ``CHUNK``. ``give`` it back, or destroy it after an error."""
        size = _size(size)
        return self._reading.take(size) or self.device._create_buffer(size, _READ)

    def give(self, buffer: Any) -> None:
        self._reading.give(buffer.size, buffer)

    @staticmethod
    def map(buffer: Any, size: int) -> Any:
        """The first bytes of a staging buffer, to be copied before ``unmap``, after the submitted work that fills it."""
        interruptible(uninterrupted(buffer.map_async, _MAP_READ, 0, size).sync_wait)
        return buffer.read_mapped(0, size, copy=False)

    @contextmanager
    def _ring(self, pool: Pool, size: int, usage: int) -> Iterator[list[Any]]:
        """One staging buffer or two for a transfer; given up, not kept, where an error or Ctrl-C leaves one mapped."""
        buffers: list[Any] = []
        try:
            for _ in range(1 if size <= CHUNK else 2):
                buffers.append(pool.take(_size(size)) or self.device._create_buffer(_size(size), usage))
            yield buffers
        except BaseException:
            for buffer in buffers:
                buffer.destroy()
            raise
        for buffer in buffers:
            pool.give(buffer.size, buffer)

    def download(self, buffer: Any, offset: int, size: int) -> NDArray[np.uint8]:
        """Bytes ``offset`` to ``offset + size`` of a buffer, after all submitted work; offset and size are multiples of four."""
        out = np.empty(size, np.uint8)
        gpu = self.device.gpu_device
        starts = range(0, size, CHUNK)
        with self._ring(self._reading, size, _READ) as ring:

            def fetch(number: int) -> None:
                start = starts[number]
                encoder = gpu.create_command_encoder()
                encoder.copy_buffer_to_buffer(buffer, offset + start, ring[number % 2], 0, min(CHUNK, size - start))
                gpu.queue.submit([encoder.finish()])

            fetch(0)
            for number, start in enumerate(starts):
                staging = ring[number % 2]
                part = out[start : start + CHUNK]
                mapped = self.map(staging, part.size)
                # Only now, as mapping waits for everything that was submitted before.
                if number + 1 < len(starts):
                    fetch(number + 1)
                part[:] = np.frombuffer(mapped, np.uint8)
                staging.unmap()
        return out

    def upload(self, data: NDArray[Any], buffer: Any, offset: int = 0) -> None:
        """A contiguous array's bytes to a buffer; the last word is filled up with zeros."""
        flat = data.reshape(-1).view(np.uint8)
        gpu = self.device.gpu_device
        if 0 < flat.size <= _SMALL_UPLOAD and flat.size % 4 == 0:
            gpu.queue.write_buffer(buffer, offset, flat)
            return
        left = flat.size % 4
        if left or flat.size <= _SMALL_UPLOAD:
            whole = flat.size - left if flat.size > _SMALL_UPLOAD else 0
            last = flat[whole:]
            if left:
                last = np.concatenate([last, np.zeros(4 - left, np.uint8)])
            if last.size:
                gpu.queue.write_buffer(buffer, offset + whole, last)
            flat = flat[:whole]
        if not flat.size:
            return
        starts = range(0, flat.size, CHUNK)
        with self._ring(self._writing, flat.size, _WRITE) as ring:
            mapping = [uninterrupted(staging.map_async, wgpu.MapMode.WRITE) for staging in ring]
            for number, start in enumerate(starts):
                turn = number % 2
                staging = ring[turn]
                part = flat[start : start + CHUNK]
                interruptible(mapping[turn].sync_wait)
                staging.write_mapped(part, 0)
                staging.unmap()
                encoder = gpu.create_command_encoder()
                encoder.copy_buffer_to_buffer(staging, 0, buffer, offset + start, part.size)
                # It may call wgpu-py back for the other buffer, and cffi drops what is raised there.
                uninterrupted(gpu.queue.submit, [encoder.finish()])
                if number + 2 < len(starts):
                    # Asked for now, to wait for no more than this copy while the other buffer is filled.
                    mapping[turn] = uninterrupted(staging.map_async, wgpu.MapMode.WRITE)
