"""The inputs: arrays of every kind and type, the same on every machine and for any threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import Case

Array = NDArray[Any]

_BLOCK = 1 << 20  # elements that one generator makes

#: Kinds that do not depend on the shape: elements are the beginning of one endless stream.
FLAT_KINDS = ("random", "constant", "eight_values", "shared_leading_bits", "sparse")


def in_parallel(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """``work`` of each item, in order; NumPy lets go of the interpreter's lock inside its loops."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with ThreadPoolExecutor(min(32, processors)) as pool:
        return list(pool.map(work, items))


def make_flat(kind: str, count: int, dtype: str = "float32") -> Array:
    """The first elements of a kind's stream. Random floats are normal, random integers any.

    Of sparse data one element in fifty is random, and all others are zero.
    """
    out = np.empty(count, dtype)
    words = out.view(f"u{out.itemsize}")
    floats = out.dtype.kind == "f"
    if kind == "constant":
        out.fill(1.5 if floats else 1)
        return out
    seed = FLAT_KINDS.index(kind)
    half = 4 * out.itemsize

    def fill(block: int) -> None:
        part = slice(block * _BLOCK, (block + 1) * _BLOCK)
        size = out[part].size
        generator = np.random.Generator(np.random.SFC64([seed, block]))
        # Whole blocks, so that a shorter array is the beginning of a longer one.
        if kind == "eight_values":
            out[part] = generator.integers(0, 8, _BLOCK, np.uint8)[:size]
        elif kind in ("random", "sparse") and floats:
            out[part] = generator.standard_normal(_BLOCK, np.float64 if out.itemsize == 8 else np.float32)[:size]
        elif kind in ("random", "sparse"):
            words[part] = generator.integers(0, 1 << 2 * half, _BLOCK, words.dtype)[:size]
        else:
            # The upper half of the bits is that of 1.5, or of a number of the middle.
            # So the first digits of the keys say nothing.
            upper = int(np.array(1.5, dtype).view(words.dtype)) if floats else 0x5A << (2 * half - 8)
            low = generator.integers(0, 1 << half, _BLOCK, words.dtype)[:size]
            words[part] = low | words.dtype.type(upper >> half << half)
        if kind == "sparse":
            out[part] *= generator.random(_BLOCK, np.float32)[:size] < 1 / 50

    in_parallel(fill, range(-(-count // _BLOCK)))
    return out


def make(kind: str, case: Case) -> Array:
    if kind in FLAT_KINDS:
        return make_flat(kind, case.elements, case.dtype).reshape(case.shape)
    ramp = _ramp(case.length, np.dtype(case.dtype))
    along = [1] * len(case.shape)
    along[case.axis] = case.length
    return np.broadcast_to((ramp[::-1] if kind == "reversed" else ramp).reshape(along), case.shape).copy()


def _ramp(n: int, dtype: np.dtype[Any]) -> Array:
    """Ascending numbers. A type that cannot tell as many apart has runs of equals."""
    places = np.arange(n, dtype=np.int64)
    if dtype.kind == "f":
        return ((places - n // 2) * (8.0 / n)).astype(dtype)
    bits, unsigned = 8 * dtype.itemsize, places.view(np.uint64)
    steps = unsigned * np.uint64(((1 << bits) - 1) // n) if n < 1 << bits else (unsigned << np.uint64(bits)) // np.uint64(n)
    return (steps + np.uint64(np.iinfo(dtype).min % (1 << 64))).astype(dtype)
