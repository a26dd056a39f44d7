"""The right answers, by NumPy: exact, ties in ascending order of index.

For arrays without NaN, as all of the benchmark's are.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..selftest import difference
from .cases import Case
from .data import in_parallel

Array = NDArray[Any]
Indices = NDArray[np.uint32]

_CHUNK = 1 << 20  # elements that a thread takes at a time


def answer(case: Case, x: Array) -> tuple[Array | None, Indices]:
    """Values (None for argmax) and indices of a case, in the shape of its outputs."""
    argmax = case.operator == "argmax"
    box = x.reshape(prod(x.shape[: case.axis]), case.length, -1)
    found = np.empty((box.shape[0], case.k, box.shape[2]), np.uint32)

    def pick(piece: tuple[slice, slice]) -> None:
        lines = box[piece[0], :, piece[1]]
        if argmax:
            found[piece[0], :, piece[1]] = np.argmax(lines, axis=1, keepdims=True)
        else:
            rows = np.ascontiguousarray(lines.transpose(0, 2, 1))
            found[piece[0], :, piece[1]] = _first(rows, case.k).transpose(0, 2, 1)

    if case.sequences == 1 and case.k * 4 <= case.length and not argmax:
        found[0, :, 0] = _first_of_long(x.reshape(-1), case.k)
    else:
        in_parallel(pick, _pieces(box.shape[0], box.shape[2], case.length))
    indices = found.reshape(case.result_shape)
    return None if argmax else np.take_along_axis(x, indices.astype(np.int64), case.axis), indices


def _pieces(outer: int, inner: int, length: int) -> list[tuple[slice, slice]]:
    """Sequences in groups of about a chunk."""
    across = max(1, min(inner, _CHUNK // length))
    down = max(1, _CHUNK // (length * across)) if across == inner else 1
    return [
        (slice(o, min(o + down, outer)), slice(i, min(i + across, inner)))
        for o in range(0, outer, down)
        for i in range(0, inner, across)
    ]


def _order_keys(x: Array) -> NDArray[np.uint64]:
    """Unsigned keys, smallest for the largest element; adding zero makes -0.0 the same as 0.0."""
    bits: NDArray[Any] = (x + x.dtype.type(0)).view(f"u{x.itemsize}")
    sign = bits.dtype.type(1 << (8 * x.itemsize - 1))
    key = ~bits if x.dtype.kind == "u" else bits ^ ~sign
    if x.dtype.kind == "f":
        key = np.where(bits & sign != 0, bits, key)
    return np.asarray(key, np.uint64)


def _first(x: Array, k: int) -> NDArray[np.int64]:
    """Where the first k along the last axis are.

    Key and index are one number, so that no two are equal and any sort is the stable one.
    """
    keys = _order_keys(x)
    if x.itemsize == 8:
        return np.argsort(keys, axis=-1, kind="stable")[..., :k]  # no number has room for both
    pairs = keys << np.uint64(32) | np.arange(x.shape[-1], dtype=np.uint64)
    if k < x.shape[-1]:
        pairs = np.partition(pairs, k - 1, axis=-1)[..., :k]
    return (np.sort(pairs, axis=-1) & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _first_of_long(row: Array, k: int) -> NDArray[np.int64]:
    """The first k of one long row, which are among the first k of each of its parts."""
    step = max(_CHUNK, 4 * k)

    def among(start: int) -> NDArray[np.int64]:
        part = row[start : start + step]
        last = max(0, part.size - k)
        bound = np.partition(part, last)[last]
        above, equal = np.flatnonzero(part > bound), np.flatnonzero(part == bound)
        return np.sort(np.append(above, equal[: k - above.size])) + start

    found = np.concatenate(in_parallel(among, range(0, row.size, step)))
    first: NDArray[np.int64] = found[_first(row[found], k)]
    return first


def differences(want: tuple[Array | None, Indices], got: tuple[Array | None, Indices]) -> str:
    """What is wrong with an answer, or nothing. Values are compared as bits."""
    pairs = zip(("values", "indices"), want, got, strict=True)
    found = ((name, difference(given, right)) for name, right, given in pairs if right is not None)
    return next((f"{name}: {what}" for name, what in found if what), "")
