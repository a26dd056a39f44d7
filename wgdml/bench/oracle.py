"""The right answers, by NumPy: exact, ties in ascending order of index. For arrays without NaN, as all of the benchmark's are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import Case
from .data import in_parallel

__all__ = ["answer", "differences"]

Array = NDArray[Any]
Indices = NDArray[np.uint32]

_CHUNK = 1 << 20  # elements that a thread takes at a time
_LONG = 1 << 18  # from here on a row is searched by its parts


def answer(case: Case, x: Array) -> tuple[Array | None, Indices]:
    """Values (None for argmax) and indices of a case, in the shape of its outputs."""
    if case.operator == "argmax":
        return None, _argmax(x, case.axis).reshape(case.result_shape)
    if case.sequences == 1 and case.length >= _LONG and case.k * 32 <= case.length:
        indices = _long_row(x.reshape(-1), case.k).reshape(case.result_shape)
        return x.reshape(-1)[indices.reshape(-1)].reshape(case.result_shape), indices
    return _rows(x, case)


def _argmax(x: Array, axis: int) -> Indices:
    if x.size == x.shape[axis]:
        row = x.reshape(-1)
        starts = range(0, row.size, _CHUNK)
        firsts = np.array([*in_parallel(lambda s: s + int(np.argmax(row[s : s + _CHUNK])), starts)])
        return np.asarray(firsts[np.argmax(row[firsts])], np.uint32)
    # As outer x axis x inner, cut where it is longest.
    outer = int(np.prod(x.shape[:axis], dtype=np.int64))
    inner = int(np.prod(x.shape[axis + 1 :], dtype=np.int64))
    box = x.reshape(outer, x.shape[axis], inner)
    out = np.empty((outer, inner), np.uint32)

    def part(piece: tuple[slice, slice]) -> None:
        out[piece] = np.argmax(box[piece[0], :, piece[1]], axis=1)

    for _ in in_parallel(part, _pieces(outer, inner, x.shape[axis])):
        pass
    return out


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


def _rows(x: Array, case: Case) -> tuple[Array, Indices]:
    """Every sequence on its own: key and index as one number, so that no two are equal and any sort is the stable one."""
    outer = int(np.prod(x.shape[: case.axis], dtype=np.int64))
    inner = int(np.prod(x.shape[case.axis + 1 :], dtype=np.int64))
    n, k = case.length, case.k
    box = x.reshape(outer, n, inner)
    values = np.empty((outer, k, inner), x.dtype)
    indices = np.empty((outer, k, inner), np.uint32)
    index = np.arange(n, dtype=np.uint64)

    def part(piece: tuple[slice, slice]) -> None:
        lines = np.ascontiguousarray(box[piece[0], :, piece[1]].transpose(0, 2, 1))
        keys = _order_keys(lines)
        if x.itemsize == 8:
            found = np.argsort(keys, axis=-1, kind="stable")[..., :k]  # no number has room for such a key and an index
        else:
            pairs = keys << np.uint64(32) | index
            if k < n:
                pairs = np.partition(pairs, k - 1, axis=-1)[..., :k]
            found = (np.sort(pairs, axis=-1) & np.uint64(0xFFFFFFFF)).astype(np.int64)
        indices[piece[0], :, piece[1]] = found.transpose(0, 2, 1)
        values[piece[0], :, piece[1]] = np.take_along_axis(lines, found, -1).transpose(0, 2, 1)

    for _ in in_parallel(part, _pieces(outer, inner, n)):
        pass
    return values.reshape(case.result_shape), indices.reshape(case.result_shape)


def _long_row(row: Array, k: int) -> Indices:
    """One long row. The k-th largest of the parts' maxima bounds the answer from below, so few elements are left to sort."""
    size = max(8, min(4096, row.size // (8 * k)))
    starts = range(0, row.size, _CHUNK // size * size)
    step = starts.step

    def maxima(start: int) -> Array:
        piece = row[start : start + step]
        whole = piece.size // size * size
        tops = piece[:whole].reshape(-1, size).max(axis=1)
        return tops if whole == piece.size else np.append(tops, piece[whole:].max())

    tops = np.concatenate([*in_parallel(maxima, starts)])
    bound = np.partition(tops, tops.size - k)[tops.size - k]
    above = np.concatenate([*in_parallel(lambda s: s + np.flatnonzero(row[s : s + step] > bound), starts)])
    if above.size < k:
        # At least k elements reach the bound, so it is the k-th largest: the first of those equal to it fill up.
        missing = k - above.size
        equal: list[NDArray[np.int64]] = []
        for start in starts:
            found = start + np.flatnonzero(row[start : start + step] == bound)[:missing]
            equal.append(found)
            missing -= found.size
            if not missing:
                break
        above = np.concatenate([above, *equal])
        above.sort()
    elif above.size > k:
        values = row[above]
        kth = np.partition(values, values.size - k)[values.size - k]
        larger = values > kth
        ties = np.flatnonzero(values == kth)[: k - int(larger.sum())]
        larger[ties] = True
        above = above[larger]
    return above[np.argsort(_order_keys(row[above]), kind="stable")].astype(np.uint32)


def differences(case: Case, want: tuple[Array | None, Indices], got: tuple[Array | None, Indices]) -> str:
    """What is wrong with an answer, or nothing. Values are compared as bits."""
    for name, right, given in zip(("values", "indices"), want, got, strict=True):
        if right is None or given is None:
            continue
        right, given = (np.ascontiguousarray(a).reshape(-1).view(f"u{a.itemsize}") for a in (right, given))
        if right.shape != given.shape:
            return f"{given.size} {name} where {right.size} are due"
        if not np.array_equal(right, given):
            wrong = np.flatnonzero(right != given)
            first = int(wrong[0])
            return f"{wrong.size} of {right.size} {name} are wrong, the first at {first}: {given[first]:#x}, not {right[first]:#x}"
    return ""
