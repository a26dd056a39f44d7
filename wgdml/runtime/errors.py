"""wgpu's errors as Python's, and the processes in which wgpu cannot work."""

from __future__ import annotations

import wgpu


class DeviceLostError(RuntimeError):
    """The GPU device is gone: its driver gave up, or somebody destroyed it.

    ``default_device()`` then makes a new one. Who wrapped a ``wgpu.GPUDevice`` makes another.
    """


class VariableError(ValueError):
    """An environment variable asks for what no device has."""


def out_of_memory(error: BaseException) -> bool:
    """Is there no room? wgpu-native reports that as a validation error (docs/driver-bugs.md)."""
    return isinstance(error, wgpu.GPUOutOfMemoryError) or "Not enough memory left" in str(error)


def translated(error: BaseException, doing: str) -> Exception:
    text = str(error)
    if "device is lost" in text.lower() or "device lost" in text.lower():
        return DeviceLostError(f"{doing}: the GPU device is lost: open another one, as default_device() does")
    if out_of_memory(error):
        return MemoryError(f"{doing}: the GPU device has no memory left")
    if "has been destroyed" in text:
        return ValueError(f"{doing}: a buffer in it has been destroyed")
    return RuntimeError(f"{doing}: wgpu says: {text}")
