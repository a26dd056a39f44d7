"""Compute pipelines, each compiled at first sight and kept."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import wgpu

from .. import shaders
from ..plan import Dispatch
from .context import Context, Kept
from .errors import DeviceLostError, translated
from .fences import fenced
from .modules import shader_module


class KernelError(shaders.ShaderError):
    """The driver does not compile a kernel."""

    def __init__(self, kernel: str, message: str) -> None:
        super().__init__(message)
        self.kernel = kernel


class Pipelines:
    """The pipelines of one device, by kernel and the constants that its text uses.

    The least recently used leave where there are more than ``most``.
    """

    def __init__(self, context: Context, most: int) -> None:
        self._context = context
        self._pipelines = Kept(context.lock, most)
        self._layouts: dict[Hashable, tuple[Any, Any]] = {}

    def __len__(self) -> int:
        return len(self._pipelines)

    def clear(self) -> None:
        self._pipelines.clear()
        self._layouts.clear()

    def has(self, dispatch: Dispatch) -> bool:
        """Whether ``get`` would compile nothing."""
        return self._pipelines.get((dispatch.kernel, dispatch.constants)) is not None

    def get(self, dispatch: Dispatch) -> tuple[Any, Any]:
        key = dispatch.kernel, dispatch.constants
        found: tuple[Any, Any] | None = self._pipelines.get(key)
        if found is None:
            found = self._compile(dispatch)
            self._pipelines.put(key, found)
            self._context.counters["pipelines"] += 1
        return found

    def _compile(self, dispatch: Dispatch) -> tuple[Any, Any]:
        kernel, constants = dispatch.kernel, dict(dispatch.constants)
        text = shaders.assemble(kernel, constants)
        if self._context.fenced:
            text = fenced(text)
        resources = shaders.specialised(kernel, constants).resources.values()
        group, layout = self._layout(tuple(sorted((r.slot, r.access) for r in resources)))
        gpu = self._context.gpu_device
        try:
            module = shader_module(gpu, kernel, text)
            pipeline = gpu.create_compute_pipeline(label=kernel, layout=layout, compute={"module": module, "entry_point": "main"})
        except wgpu.GPUError as error:
            if isinstance(translated(error, ""), DeviceLostError | MemoryError):
                raise
            numbered = "\n".join(f"{i:4}  {line}" for i, line in enumerate(text.splitlines(), 1))
            raise KernelError(kernel, f"{kernel}.wgsl does not compile: {error}\n{numbered}") from error
        return pipeline, group

    def _layout(self, slots: tuple[tuple[int, str], ...]) -> tuple[Any, Any]:
        """Bind group layout and pipeline layout for these slots with these kinds of access."""
        layouts = self._layouts.get(slots)
        if layouts is None:
            gpu = self._context.gpu_device
            group = gpu.create_bind_group_layout(
                entries=[
                    {"binding": slot, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": access}} for slot, access in slots
                ]
            )
            layouts = self._layouts[slots] = group, gpu.create_pipeline_layout(bind_group_layouts=[group])
        return layouts
