"""What belongs to the process and not to a device: signals, forks, and its end.

Ctrl-C, and other signals whose handlers raise, as those of timeouts do, leave locks as they were
and are not lost.

A signal's handler may raise between the taking of a lock and the block that would give it back. The
lock then stays taken for ever. ``threading.Condition``, being Python code, has such gaps: in
``__enter__`` after the lock is taken, in ``__exit__`` before it is given back. wgpu-py waits for a
device by ``threading.Event``, which holds such a condition: every later wait would be endless.
``docs/driver-bugs.md`` has a program that shows it. And what is raised in a callback of native
code, as when a device or an adapter arrives, is printed and dropped.

A forked child has its parent's GPU handles, but none of the threads of wgpu and of the driver.

Daemon threads go on until Python ends, which then unwinds each that comes back to it (before 3.14).
Where wgpu's native code has called Python back, as it does while it submits, that is a panic. And
a software adapter compiles in threads of its own, which do not survive the end of its libraries.
"""

from __future__ import annotations

# signal without its enumerations, which would cost 13 of 14 us.
import _signal  # type: ignore[import-not-found]
import atexit
import ctypes
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from inspect import currentframe
from types import FrameType
from typing import Any, Protocol, TypeVar, overload

_T = TypeVar("_T")
#: Those by which programs interrupt themselves. To ask for the handlers of all takes 5 us more.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGBREAK")
_SIGNALS = tuple(getattr(_signal, name) for name in _NAMES if hasattr(_signal, name))
_WAIT = threading.Condition.wait.__code__  # where the time is spent; it puts in order what it did


@overload
def locked(lock: Any, work: Callable[..., _T], *arguments: object) -> _T: ...
@overload
def locked(lock: Any, work: Callable[..., _T], *arguments: object, wait: bool) -> _T | None: ...
def locked(lock: Any, work: Callable[..., _T], *arguments: object, wait: bool = True) -> _T | None:
    """``work(*arguments)`` under a lock; None where it is taken and is not to be waited for.

    One call takes the lock and notes it. ``lock.acquire()``, and in Python 3.14 ``with lock``
    (python/cpython#148874), have a moment in which the lock is held and nothing would give it back.
    """
    held: list[bool] = []
    try:
        held.extend(map(lock.acquire, (wait,)))
        return work(*arguments) if held[0] else None
    finally:
        if held and held[0]:
            lock.release()


def uninterrupted(call: Callable[..., _T], *arguments: object) -> _T:
    """``call(*arguments)``, a short one; handlers of signals that come meanwhile run afterwards."""
    return _guarded(False, call, arguments)


def interruptible(call: Callable[..., _T], *arguments: object) -> _T:
    """``call(*arguments)``, which waits; signals are held back while a lock changes hands."""
    return _guarded(True, call, arguments)


def _guarded(waits: bool, call: Callable[..., _T], arguments: tuple[object, ...]) -> _T:
    if threading.get_ident() != threading.main_thread().ident:
        before_callbacks()
        return call(*arguments)  # Python runs handlers in the main thread alone
    handlers: dict[int, Any] = {number: handler for number in _SIGNALS if callable(handler := _signal.getsignal(number))}
    held: list[int] = []
    passing = over = False

    def hold_or_pass(number: int, frame: FrameType | None) -> None:
        # Over, where the program has kept it as what it found.
        if over or (passing and not _is_unsafe(frame)):
            handlers[number](number, frame)
        elif number not in held:  # as the system has each pending once
            held.append(number)

    try:
        with suppress(ValueError):  # in some programs that embed Python this is not the main thread
            for number in handlers:
                _signal.signal(number, hold_or_pass)
        passing = waits
        return call(*arguments)
    finally:
        passing = False
        try:
            _put_back(handlers, hold_or_pass)
        finally:
            over = True
            _run(handlers, held)


def _put_back(handlers: dict[int, Any], own: Any) -> None:
    """Ends the guard. Raises then what handlers raised meanwhile that were back already."""
    raised: BaseException | None = None
    while True:
        try:
            for number, handler in handlers.items():
                # Else the program has put another handler in its place.
                while _signal.getsignal(number) is own:
                    _signal.signal(number, handler)
            break
        except BaseException as error:
            raised = error
    if raised is not None:
        raise raised


def _run(handlers: dict[int, Any], held: list[int]) -> None:
    """Each handler of what was held, whatever others raise."""
    if held:
        try:
            handlers[held[0]](held[0], currentframe())
        finally:
            _run(handlers, held[1:])


def _is_unsafe(frame: FrameType | None) -> bool:
    """Is the innermost function of ``threading`` within the call not ``Condition.wait``?

    Nor may that still have the lock: who would notify it waits for that, and a handler may wait for
    what the same thread does next.
    """
    while frame is not None and frame.f_code is not _guarded.__code__:
        if frame.f_code.co_filename == _WAIT.co_filename:
            return frame.f_code is not _WAIT or "saved_state" not in frame.f_locals
        frame = frame.f_back
    return False


FORKED = (
    'this process was forked from one that had used the GPU, which cannot work here: start processes by "spawn" or "forkserver" '
    "(multiprocessing.set_start_method), or use the GPU only after the fork"
)


class _User(Protocol):
    def forked(self) -> None: ...
    def idle(self) -> bool: ...


_users: weakref.WeakSet[_User] = weakref.WeakSet()
_used = False
_inherited = False


def use_gpu(user: _User | None = None) -> None:
    """Comes before any use of wgpu; tells ``user`` of forks. ``RuntimeError`` in such a fork.

    A ``user`` in a fork has a device that the caller made there: ``Context`` refuses the parent's.
    """
    global _used
    if _inherited and user is None:
        raise RuntimeError(FORKED)
    _used = True
    if user is not None:
        _users.add(user)


def _after_fork_in_child() -> None:
    global _inherited
    _inherited = _used
    for user in list(_users):
        user.forked()
        # Freeing it would wait for the driver's threads: it lives as long as the process.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(user))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


_PATIENCE = 2.0  # seconds that the end of Python waits for work, and other threads for that
_ender: int | None = None  # the thread that ends Python, from then on


def before_callbacks() -> None:
    """Comes before native code that may call Python: other threads go no further at its end.

    The end may wait for them, as by ``join`` or for a lock. So they end too, after a while.
    """
    if _ender is not None and threading.get_ident() != _ender:
        time.sleep(_PATIENCE)
        raise SystemExit


def _end() -> None:
    global _ender
    own, deadline = threading.get_ident(), time.monotonic() + _PATIENCE
    _ender = own

    def busy() -> bool:
        others = [frame for thread, frame in sys._current_frames().items() if thread != own]
        return any(map(_is_in_wgpu, others)) or not all(user.idle() for user in list(_users))

    while busy() and time.monotonic() < deadline:
        time.sleep(0.001)


def _is_in_wgpu(frame: FrameType | None) -> bool:
    """Has a function of this package called one of wgpu's, and does it not wait for the end?"""
    packages = set()
    while frame is not None and frame.f_code is not before_callbacks.__code__:
        packages.add(frame.f_globals.get("__name__", "").partition(".")[0])
        frame = frame.f_back
    return frame is None and packages >= {"wgpu", __name__.partition(".")[0]}


atexit.register(_end)
