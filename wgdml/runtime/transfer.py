"""Bytes between NumPy and the device through staging buffers that are kept.

A new staging buffer for every transfer costs two to three times the transfer; a kept one is mapped again.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import wgpu
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .device import Device

__all__ = ["Staging"]

_CHUNK = 32 << 20  # bytes of one kept staging buffer
_SMALL_UPLOAD = 1 << 20  # up to here the queue's own write is as fast


class Staging:
    """The staging buffers of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.lock = threading.Lock()
        self.reading: Any = None
        self.writing: Any = None

    def _kept(self, name: str, size: int, usage: int) -> Any:
        buffer = getattr(self, name)
        if buffer is None or buffer.size < size:
            buffer = self.device._create_buffer(min(_CHUNK, 1 << max(12, (size - 1).bit_length())), usage)
            setattr(self, name, buffer)
        return buffer

    def download(self, buffer: Any, offset: int, size: int) -> NDArray[np.uint8]:
        """Bytes ``offset`` to ``offset + size`` of a buffer, after all submitted work; offset and size are multiples of four."""
        out = np.empty(size, np.uint8)
        gpu = self.device.gpu_device
        with self.lock:
            done = 0
            while done < size:
                count = min(size - done, _CHUNK)
                staging = self._kept("reading", count, wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST)
                encoder = gpu.create_command_encoder()
                encoder.copy_buffer_to_buffer(buffer, offset + done, staging, 0, count)
                gpu.queue.submit([encoder.finish()])
                staging.map_sync(wgpu.MapMode.READ, 0, count)
                try:
                    out[done : done + count] = np.frombuffer(staging.read_mapped(0, count, copy=False), np.uint8)
                finally:
                    staging.unmap()
                done += count
        return out

    def upload(self, data: NDArray[Any], buffer: Any, offset: int = 0) -> None:
        """A contiguous array's bytes to a buffer; the last word is filled up with zeros."""
        flat = data.reshape(-1).view(np.uint8)
        if flat.size % 4:
            flat = np.concatenate([flat, np.zeros(-flat.size % 4, np.uint8)])
        gpu = self.device.gpu_device
        if flat.size <= _SMALL_UPLOAD:
            if flat.size:
                gpu.queue.write_buffer(buffer, offset, flat)
            return
        with self.lock:
            for start in range(0, flat.size, _CHUNK):
                part = flat[start : start + _CHUNK]
                staging = self._kept("writing", part.size, wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC)
                staging.map_sync(wgpu.MapMode.WRITE, 0, part.size)
                try:
                    staging.write_mapped(part, 0)
                finally:
                    staging.unmap()
                encoder = gpu.create_command_encoder()
                encoder.copy_buffer_to_buffer(staging, 0, buffer, offset + start, part.size)
                gpu.queue.submit([encoder.finish()])
