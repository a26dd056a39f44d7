"""Ctrl-C that leaves Python's locks as they were.

``threading.Condition`` is Python code: an exception that a signal's handler raises in its ``__enter__`` after the lock is taken, or
in its ``__exit__`` before it is given back, leaves it taken for ever. wgpu-py waits for a device, and wakes the thread that polls
it, by ``threading.Event``, which holds such a condition: after such an accident every wait for the device is endless.
``docs/driver-bugs.md`` has a program that shows it.
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
_WAIT = threading.Condition.wait.__code__  # where the time is spent; it puts in order what it did


def _is_unsafe(frame: FrameType | None) -> bool:
    """Is the innermost function of ``threading`` on the stack another one than ``Condition.wait``?"""
    while frame is not None:
        if frame.f_code.co_filename == _WAIT.co_filename:
            return frame.f_code is not _WAIT
        frame = frame.f_back
    return False


def interruptible(call: Callable[..., _T], *arguments: object) -> _T:
    """``call(*arguments)``; a Ctrl-C that comes while a condition's lock changes hands is raised when the call is done."""
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
