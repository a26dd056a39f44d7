"""What event loops wait for: wgpu's promises.

A ``wgpu.GPUPromise`` is awaited on asyncio, trio and rendercanvas, and calls back by ``then``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from typing import Any

import wgpu
from wgpu._async import detect_current_call_soon_threadsafe


class _Awaited(wgpu.GPUPromise):  # type: ignore[misc]  # wgpu has no types
    """A promise that cannot be waited for: its event loop would stand still for ever."""

    def _sync_wait(self) -> None:
        raise RuntimeError(f"{self} cannot be waited for: await it, or call the one without _async")

    def _wgpu_set_error(self, error: str | Exception) -> None:
        # Else another device has failed before, and wgpu would log this.
        if self._state == "pending":
            super()._wgpu_set_error(error)

    def __await__(self) -> Generator[Any, Any, Any]:
        here = detect_current_call_soon_threadsafe()
        if self._state == "pending" and here not in (None, self._call_soon_threadsafe.args[0]):
            # Nothing would wake this one.
            raise RuntimeError(f"{self} is of another event loop: await it on the one that it was asked for on")
        return super().__await__()  # type: ignore[no-any-return]


def promised(title: str, handler: Callable[[Any], Any] | None = None) -> Any:
    """A promise to the event loop of this thread; ``handler`` makes its result of what it is given.

    Raises ``RuntimeError`` where no event loop runs.
    """
    soon = detect_current_call_soon_threadsafe()
    if soon is None:
        raise RuntimeError(f"{title} needs a running event loop, of asyncio, trio or rendercanvas, that awaits its promise")
    return _held_by_others(outliving(_Awaited(title, handler, _call_soon_threadsafe=soon)))


def _held_by_others(promise: Any) -> Any:
    """The promise, which what fulfils it holds.

    wgpu-py itself holds every one until it is fulfilled: for ever, where its event loop has ended.
    """
    wgpu.GPUPromise._UNRESOLVED.discard(promise)
    return promise


def outliving(promise: Any) -> Any:
    """The promise, which tells nobody where its event loop has ended before.

    wgpu-py's own raises then, in a thread or a callback where nobody can catch that.
    """
    soon = promise._call_soon_threadsafe
    if soon is None:  # it belongs to no event loop
        return promise

    promise._call_soon_threadsafe = partial(_tell, soon)
    return promise


def _tell(soon: Callable[..., Any], callback: Callable[..., Any], *arguments: Any) -> None:
    with suppress(RuntimeError):
        soon(callback, *arguments)


def on_either(promise: Any, done: Callable[[Any], Any], failed: Callable[[Exception], Any]) -> None:
    """Has the promise's event loop call one of both."""
    for chained in (promise.catch(failed), promise.then(done)):
        _held_by_others(chained)


def in_thread(title: str, work: Callable[[], Any]) -> Any:
    """A promise of what ``work`` returns in a thread of its own.

    It is for what wgpu-native has only as calls that return when all is done.
    """
    promise = promised(title)

    def run() -> None:
        try:
            result = work()
        except Exception as error:
            promise._wgpu_set_error(error)
        else:
            promise._wgpu_set_input(result)

    threading.Thread(target=run, name=title).start()
    return promise
