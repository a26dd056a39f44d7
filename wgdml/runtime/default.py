"""The device that is used where none is named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import wgpu

from .executor import Executor
from .process import locked

if TYPE_CHECKING:
    from .device import Device

_make: Callable[[], Device]
_device: Device | None = None
_lock = threading.Lock()


def made_by(make: Callable[[], Device]) -> None:
    """Says how the default device is made.

    ``device.py`` does, which stands above all that use the default.
    """
    global _make
    _make = make


def _made() -> Device:
    global _device
    if _device is None or _device.context.over:
        _device = _make()
    return _device


def as_device(device: Executor | None, check: Callable[..., object] | None = None, *arguments: Any) -> Device:
    """The device to work on; for None the default one.

    That is made at the first call, and again when it was closed, destroyed or lost.
    ``check(*arguments)`` comes before: it refuses what no device could do.
    """
    if device is None:
        device = _device
        if device is None or device.context.over:
            if check is not None:
                check(*arguments)
            device = locked(_lock, _made)
        return device
    if not isinstance(device, Executor):
        hint = ": wgdml.Device(gpu_device) makes one of it" if isinstance(device, wgpu.GPUDevice) else ""
        raise TypeError(f"device must be a wgdml.Device, not {device!r}{hint}")
    return device  # type: ignore[return-value]  # users have no other Executor
