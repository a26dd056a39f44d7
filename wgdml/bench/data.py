"""The inputs: float32 arrays of every kind, the same on every machine and for any number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import Case

__all__ = ["FLAT_KINDS", "in_parallel", "make", "make_flat", "threads"]

Floats = NDArray[np.float32]

_BLOCK = 1 << 20  # elements that one generator makes

#: Kinds that do not depend on the shape: any number of elements is the beginning of one endless stream.
FLAT_KINDS = ("random", "constant", "eight_values", "shared_leading_bits")


def threads() -> int:
    return min(32, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def in_parallel(work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """``work`` of each item, in order; NumPy lets go of the interpreter's lock inside its loops."""
    items = list(items)
    if len(items) < 2 or threads() < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads()) as pool:
        yield from pool.map(work, items)


def _all(work: Callable[[Any], Any], items: Iterable[Any]) -> None:
    for _ in in_parallel(work, items):
        pass


def make_flat(kind: str, count: int) -> Floats:
    """The first ``count`` elements of a kind's stream."""
    out = np.empty(count, np.float32)
    if kind == "constant":
        out.fill(1.5)
        return out
    if kind not in FLAT_KINDS:
        raise ValueError(f"kind must be one of {', '.join(FLAT_KINDS)}, not {kind!r}")
    seed = FLAT_KINDS.index(kind)

    def fill(block: int) -> None:
        part = out[block * _BLOCK : (block + 1) * _BLOCK]
        generator = np.random.Generator(np.random.SFC64([seed, block]))
        if kind == "random":
            # Whole blocks, so that a shorter array is the beginning of a longer one.
            part[:] = generator.standard_normal(_BLOCK, np.float32)[: part.size]
        elif kind == "eight_values":
            part[:] = generator.integers(0, 8, _BLOCK, np.uint8)[: part.size]
        else:
            # One sign, one exponent and seven bits of the mantissa for all: the first digits of the keys say nothing.
            low = generator.integers(0, 1 << 16, _BLOCK, np.uint16)[: part.size]
            part.view(np.uint32)[:] = low | np.uint32(0x3FC0_0000)

    _all(fill, range(-(-count // _BLOCK)))
    return out


def make(kind: str, case: Case) -> Floats:
    """The input of a case."""
    if kind in FLAT_KINDS:
        return make_flat(kind, case.elements).reshape(case.shape)
    if kind not in ("sorted", "reversed"):
        raise ValueError(f"kind must be one of the data kinds, not {kind!r}")
    n = case.length
    ramp = np.empty(n, np.float32)

    def climb(start: int) -> None:
        # float32 cannot tell neighbours above 2^24 apart: a long ramp has runs of equal elements.
        part = ramp[start : start + _BLOCK]
        part[:] = (np.arange(start, start + part.size) - n // 2) * (8.0 / n)

    _all(climb, range(0, n, _BLOCK))
    if kind == "reversed":
        ramp = ramp[::-1]
    along = [1] * len(case.shape)
    along[case.axis] = n
    out = np.empty(case.shape, np.float32)
    # Cut along the longest dimension, for the sake of the threads.
    longest = max(range(len(case.shape)), key=lambda d: case.shape[d])
    whole, lines = np.moveaxis(out, longest, 0), np.moveaxis(np.broadcast_to(ramp.reshape(along), case.shape), longest, 0)
    step = -(-whole.shape[0] // (4 * threads()))
    _all(lambda i: np.copyto(whole[i : i + step], lines[i : i + step]), range(0, whole.shape[0], step))
    return out
