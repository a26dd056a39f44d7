"""Data that flows through a device: blocks that follow one another through the same buffers, and partial results merged there."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
import wgpu
from numpy.typing import NDArray

from .. import shaders
from .device import Device
from .interrupts import interruptible, uninterrupted

__all__ = ["MERGED_SLOTS", "IndexMerger", "Uploader"]

#: Partial results that are merged at once, by the size of the table in ``shaders/merge_indices.wgsl``.
MERGED_SLOTS = 64


class Uploader:
    """Uploads blocks of up to ``size`` bytes: while the device copies and reduces one, the next is written to other memory.

    A block's buffer holds it until the block after the next is put; work that was submitted before sees the older content.
    """

    def __init__(self, device: Device, size: int) -> None:
        self._device = device
        size = -(-size // 16) * 16
        self._staging: list[Any] = []
        self._buffers: list[Any] = []
        self._mapping: list[Any] = [None, None]
        self._turn = 0
        for turn in range(2):
            self._staging.append(device._create_buffer(size, wgpu.BufferUsage.MAP_WRITE | wgpu.BufferUsage.COPY_SRC))
            self._buffers.append(device._create_buffer(size, wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST))
            self._map(turn)

    def _map(self, turn: int) -> None:
        uninterrupted(self._start, turn)  # a buffer that is being mapped must not lose what is waited for

    def _start(self, turn: int) -> None:
        if self._mapping[turn] is None:
            self._mapping[turn] = self._staging[turn].map_async(wgpu.MapMode.WRITE)

    def put(self, block: NDArray[Any]) -> Any:
        """The buffer that holds the block's elements, row by row, for work that is submitted from now on."""
        data = np.ascontiguousarray(block).reshape(-1).view(np.uint8)
        turn, self._turn = self._turn, 1 - self._turn
        staging, buffer = self._staging[turn], self._buffers[turn]
        # The last block's staging buffer is asked for only now: while wgpu waits for it, submissions have to wait too, and what is
        # to be done with that block has been submitted by now. It arrives while this block is written.
        self._map(1 - turn)
        interruptible(self._mapping[turn].sync_wait)
        staging.write_mapped(data)
        staging.unmap()
        self._mapping[turn] = None
        gpu = self._device.gpu_device
        encoder = gpu.create_command_encoder()
        encoder.copy_buffer_to_buffer(staging, 0, buffer, 0, -(-data.size // 4) * 4)
        with self._device.lock:
            uninterrupted(gpu.queue.submit, [encoder.finish()])  # as in transfer.py
        return buffer

    def finish(self) -> None:
        """Waits until every block has arrived."""
        for turn in range(2):
            self._map(turn)
            interruptible(self._mapping[turn].sync_wait)

    def __enter__(self) -> Uploader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.finish()
        finally:
            for buffer in (*self._staging, *self._buffers):
                buffer.destroy()


class IndexMerger:
    """Runs ``shaders/merge_indices.wgsl``: from positions among partial results to indices of the whole."""

    def __init__(self, device: Device) -> None:
        self._device = device
        gpu = device.gpu_device
        module = gpu.create_shader_module(label="merge_indices", code=shaders.assemble("merge_indices", {}))
        self._pipeline = gpu.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
        self._params = device._create_buffer(16 * (1 + MERGED_SLOTS), wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)

    def run(
        self, positions: Any, partial: Any, result: Any, *, rows: int, k: int, slot_step: int, first_indices: Sequence[int]
    ) -> None:
        """Submits the merge of ``rows`` times ``k`` positions; slot s of ``partial`` begins at the index ``first_indices[s]``."""
        table = b"".join(struct.pack("<QQ", first, 0) for first in first_indices)
        gpu = self._device.gpu_device
        entries = [
            {"binding": slot, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
            for slot, buffer in enumerate((self._params, positions, partial, result))
        ]
        group = gpu.create_bind_group(layout=self._pipeline.get_bind_group_layout(0), entries=entries)
        workgroups = -(-rows * k // 64)
        limit = self._device.limits["max-compute-workgroups-per-dimension"]
        with self._device.lock:
            gpu.queue.write_buffer(self._params, 0, struct.pack("<4I", rows * k, k, slot_step, 0) + table)
            encoder = gpu.create_command_encoder()
            compute_pass = encoder.begin_compute_pass()
            compute_pass.set_pipeline(self._pipeline)
            compute_pass.set_bind_group(0, group)
            compute_pass.dispatch_workgroups(min(workgroups, limit), -(-workgroups // limit))
            compute_pass.end()
            gpu.queue.submit([encoder.finish()])
