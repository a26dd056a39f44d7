"""The device that is used where none is named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import wgpu

from .executor import Executor
from .process import locked, use_gpu

if TYPE_CHECKING:
    from .device import Device

_make: Callable[[], Device]
_device: Device | None = None
_lock = threading.Lock()
_opener: int | None = None  # the thread that makes it now


def made_by(make: Callable[[], Device]) -> None:
    """Says how the default device is made.

    ``device.py`` does, which stands above all that use the default.
    """
    global _make
    _make = make


def _made() -> Device:
    global _device, _opener
    if _device is None or _device.context.over:
        _opener = threading.get_ident()
        try:
            _device = _make()
        finally:
            _opener = None
    return _device


def _check_can_wait() -> None:
    """``RuntimeError`` where the lock may never come free.

    In a fork nobody gives back what a thread of the parent had. And a signal's handler, or a
    finalizer, would wait for the call that it interrupts.
    """
    use_gpu()
    if _opener == threading.get_ident():
        raise RuntimeError(
            "the default device is being opened by the call that this one interrupts, as a signal's handler or a finalizer: "
            "call wgdml.default_device() before"
        )


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
            _check_can_wait()
            device = locked(_lock, _made)
        return device
    if not isinstance(device, Executor):
        hint = ": wgdml.Device(gpu_device) makes one of it" if isinstance(device, wgpu.GPUDevice) else ""
        raise TypeError(f"device must be a wgdml.Device, not {device!r}{hint}")
    return device  # type: ignore[return-value]  # users have no other Executor
