"""Data that flows through a device: blocks that follow one another through the same buffers."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np
import wgpu
from numpy.typing import NDArray

from .executor import Executor
from .transfers import WRITING, UploadRing


class Uploader:
    """Uploads blocks of up to ``size`` bytes: while the device reduces one, the next is written.

    A block's buffer holds it until the block after the next is put.
    """

    def __init__(self, device: Executor, size: int) -> None:
        size = -(-size // 16) * 16
        create = device.buffers.create
        self._staging = [create(size, wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC) for _ in range(2)]
        self._buffers = [create(size, wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST) for _ in range(2)]
        self._context = device.context
        self._ring = UploadRing(self._context, self._staging)
        self._turn = 0

    def put(self, block: NDArray[Any]) -> Any:
        """The buffer that holds the block, row by row, for work that is submitted from now on."""
        buffer = self._buffers[self._turn]
        self._turn = 1 - self._turn
        with self._context.moving(WRITING):
            self._ring.write(np.ascontiguousarray(block).reshape(-1).view(np.uint8), buffer, more=True)
        return buffer

    def __enter__(self) -> Uploader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            with self._context.moving(WRITING):
                self._ring.finish()
        finally:
            for buffer in (*self._staging, *self._buffers):
                buffer.destroy()
