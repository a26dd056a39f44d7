"""Ctrl-C that leaves Python's locks as they were.

``threading.Condition.__enter__`` is Python code: an exception that a signal's handler raises there, after the lock is taken, leaves
it taken for ever. wgpu-py wakes its polling thread by a ``threading.Event``, which holds such a condition: after such an accident
every wait for a device is endless. ``docs/driver-bugs.md`` has a program that shows it.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal without its enumerations, which would cost 13 of 14 us
import threading
from collections.abc import Callable
from signal import SIGINT
from types import FrameType
from typing import TypeVar

__all__ = ["interruptible"]

_T = TypeVar("_T")
_UNSAFE = threading.Condition.__enter__.__code__


def _is_unsafe(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code is _UNSAFE:
            return True
        frame = frame.f_back
    return False


def interruptible(call: Callable[..., _T], *arguments: object) -> _T:
    """``call(*arguments)``; a Ctrl-C that comes while a condition's lock is being taken is raised when the call is done."""
    if threading.current_thread() is not threading.main_thread():
        return call(*arguments)  # Python runs handlers in the main thread alone
    handler = _signal.getsignal(SIGINT)
    if not callable(handler):
        return call(*arguments)
    held = passing = False

    def hold_or_pass(number: int, frame: FrameType | None) -> None:
        nonlocal held
        if passing and not _is_unsafe(frame):
            handler(number, frame)
        else:
            held = True

    try:
        _signal.signal(SIGINT, hold_or_pass)
        passing = True
        return call(*arguments)
    finally:
        # From here on nothing is raised before the caller's handler is back in its place.
        passing = False
        _signal.signal(SIGINT, handler)
        if held:
            handler(SIGINT, None)
