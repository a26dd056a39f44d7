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
FLAT_KINDS = ("random", "constant", "eight_values", "shared_leading_bits")


def threads() -> int:
    return min(32, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def in_parallel(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """``work`` of each item, in order; NumPy lets go of the interpreter's lock inside its loops."""
    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(work, items))


def make_flat(kind: str, count: int, dtype: str = "float32") -> Array:
    """The first elements of a kind's stream. Random floats are normal, random integers any."""
    out = np.empty(count, dtype)
    words = out.view(f"u{out.itemsize}")
    floats = out.dtype.kind == "f"
    if kind == "constant":
        out.fill(1.5 if floats else 1)
        return out
    if kind not in FLAT_KINDS:
        raise ValueError(f"kind must be one of {', '.join(FLAT_KINDS)}, not {kind!r}")
    seed = FLAT_KINDS.index(kind)
    half = 4 * out.itemsize

    def fill(block: int) -> None:
        part = slice(block * _BLOCK, (block + 1) * _BLOCK)
        size = out[part].size
        generator = np.random.Generator(np.random.SFC64([seed, block]))
        # Whole blocks, so that a shorter array is the beginning of a longer one.
        if kind == "eight_values":
            out[part] = generator.integers(0, 8, _BLOCK, np.uint8)[:size]
        elif kind == "random" and floats:
            out[part] = generator.standard_normal(_BLOCK, np.float64 if out.itemsize == 8 else np.float32)[:size]
        elif kind == "random":
            words[part] = generator.integers(0, 1 << 2 * half, _BLOCK, words.dtype)[:size]
        else:
            # The upper half of the bits is that of 1.5, or of a number of the middle.
            # So the first digits of the keys say nothing.
            upper = int(np.array(1.5, dtype).view(words.dtype)) if floats else 0x5A << (2 * half - 8)
            low = generator.integers(0, 1 << half, _BLOCK, words.dtype)[:size]
            words[part] = low | words.dtype.type(upper >> half << half)

    in_parallel(fill, range(-(-count // _BLOCK)))
    return out


def make(kind: str, case: Case) -> Array:
    if kind in FLAT_KINDS:
        return make_flat(kind, case.elements, case.dtype).reshape(case.shape)
    if kind not in ("sorted", "reversed"):
        raise ValueError(f"kind must be one of the data kinds, not {kind!r}")
    n = case.length
    ramp = np.empty(n, case.dtype)
    bits = 8 * ramp.itemsize

    def climb(start: int) -> None:
        part = ramp[start : start + _BLOCK]
        if ramp.dtype.kind == "f":
            # float32 cannot tell neighbours above 2^24 apart: a long ramp has runs of equals.
            part[:] = (np.arange(start, start + part.size) - n // 2) * (8.0 / n)
            return
        # From the least to about the largest integer; in runs where there are not as many.
        places = np.arange(start, start + part.size, dtype=np.uint64)
        steps = places * np.uint64(((1 << bits) - 1) // n) if n < 1 << bits else (places << np.uint64(bits)) // np.uint64(n)
        part[:] = (steps + np.uint64(np.iinfo(ramp.dtype).min % (1 << 64))).astype(ramp.dtype)

    in_parallel(climb, range(0, n, _BLOCK))
    if kind == "reversed":
        ramp = ramp[::-1]
    along = [1] * len(case.shape)
    along[case.axis] = n
    out = np.empty(case.shape, case.dtype)
    # Cut along the longest dimension, for the sake of the threads.
    longest = max(range(len(case.shape)), key=lambda d: case.shape[d])
    whole, lines = np.moveaxis(out, longest, 0), np.moveaxis(np.broadcast_to(ramp.reshape(along), case.shape), longest, 0)
    step = -(-whole.shape[0] // (4 * threads()))
    in_parallel(lambda i: np.copyto(whole[i : i + step], lines[i : i + step]), range(0, whole.shape[0], step))
    return out
