"""Arrays from .npy files and pipes."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from tokenize import TokenError
from typing import IO, Any

import click
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_MAPPED_BYTES = 256 << 20  # files larger than this are not read into memory
_SUPPORTED = "float16, float32, float64, bool and the signed and unsigned integers of 8 to 64 bits"


class _Pipe:
    """A stream whose first bytes were read. NumPy would seek in a file, which a pipe cannot."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int) -> bytes:
        data, self._head = self._head[:size], self._head[size:]
        return data or self._stream.read(size)


def read_array(file: str) -> Array:
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            if sys.stdin is None:
                raise click.UsageError("FILE is - but standard input is closed")
            stream = sys.stdin.buffer
            if stream.isatty():
                raise click.UsageError("FILE is - but standard input is a terminal: pipe a .npy file in")
            head = stream.read(len(np.lib.format.MAGIC_PREFIX))
            return _parse(name, head, _Pipe(head, stream))
        with open(file, "rb") as opened:
            head = opened.read(len(np.lib.format.MAGIC_PREFIX))
            if stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                opened.seek(0)
                mapped = os.fstat(opened.fileno()).st_size > _MAPPED_BYTES
                return _parse(name, head, opened, mapped=file if mapped else None)
            return _parse(name, head, _Pipe(head, opened))
    except (OSError, ValueError) as problem:
        # ValueError: a path with a null byte in it.
        reason = problem.strerror if isinstance(problem, OSError) else None
        raise click.UsageError(f"cannot read {name}: {reason or problem}") from None


def _parse(name: str, head: bytes, stream: Any, mapped: str | None = None) -> Array:
    """The array in the stream; of a ``mapped`` file a memory map, read block by block."""
    if not head:
        raise click.UsageError(f"{name} is empty, not a .npy file")
    if head.startswith(b"PK"):
        raise click.UsageError(f"{name} is a .npz archive of several arrays: save the one you want with numpy.save")
    if head != np.lib.format.MAGIC_PREFIX:
        raise click.UsageError(f"{name} is not a .npy file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array: Array
            if mapped is not None:
                array = np.load(mapped, mmap_mode="r", allow_pickle=False)
            else:
                array = np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TypeError, OverflowError, RecursionError, TokenError) as problem:
        if "max_header_size" in str(problem):  # NumPy would have it read by allow_pickle
            raise click.UsageError(f"{name} has a header too long for an array of plain numbers") from None
        if "allow_pickle" in str(problem):
            raise click.UsageError(f"{name} holds Python objects; only plain numbers are read (no pickles)") from None
        raise click.UsageError(f"{name} is not a valid .npy file: {problem}") from None
    except MemoryError:
        raise click.UsageError(f"{name} says that it holds more than fits in memory") from None
    dtype = array.dtype
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise click.UsageError(f"{name} has data type {dtype}, which is not supported; supported are {_SUPPORTED}")
    if dtype.isnative or mapped is not None:  # the library turns the bytes of a mapped file
        return array
    return array.astype(dtype.newbyteorder("="))
