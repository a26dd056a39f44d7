"""Forked processes: a child has its parent's GPU handles, but none of the threads of wgpu and of the driver."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Protocol

__all__ = ["FORKED", "use_gpu"]

FORKED = (
    'this process was forked from one that had used the GPU, which cannot work here: start processes by "spawn" or "forkserver" '
    "(multiprocessing.set_start_method), or use the GPU only after the fork"
)


class _User(Protocol):
    def _forked(self) -> None: ...


_users: weakref.WeakSet[_User] = weakref.WeakSet()
_used = False
_inherited = False


def use_gpu(user: _User | None = None) -> None:
    """To be called before wgpu is. ``RuntimeError`` in a fork of a process that had used the GPU; tells ``user`` of later forks."""
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
        user._forked()
        # Freeing it would wait for the driver's threads, so let it live for as long as the process does.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(user))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
