"""What every operator must answer, written with NumPy alone and compared bit for bit.

Nothing here is shared with the package. An element is ranked by a signed 64-bit integer: integers
and booleans rank as themselves, floats by sign and magnitude of their bits (so that -0.0 and +0.0
rank alike, and denormals keep their place whatever the processor's rounding flags say), and every
NaN at the end that the contract names. NumPy's own stable sort and first-hit argmax then settle
ties by index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

#: Every element type that the functions take, by name.
DTYPES: dict[str, np.dtype[Any]] = {"bool": np.dtype(bool), "bfloat16": BFLOAT16}
DTYPES |= {f"float{width}": np.dtype(f"f{width // 8}") for width in (16, 32, 64)}
DTYPES |= {f"{s}int{width}": np.dtype(f"{s or 'i'}{width // 8}") for s in ("", "u") for width in (8, 16, 32, 64)}

#: Mantissa bits of the float types.
_MANTISSA = {np.dtype("float16"): 10, np.dtype("float32"): 23, np.dtype("float64"): 52, BFLOAT16: 7}

#: Elements of a long row whose ranks are looked at together.
BLOCK = 1 << 22

_LOWEST = np.iinfo(np.int64).min
_HIGHEST = np.iinfo(np.int64).max


def is_float(dtype: Any) -> bool:
    return np.dtype(dtype) in _MANTISSA


def mantissa_bits(dtype: Any) -> int:
    return _MANTISSA[np.dtype(dtype)]


def bits(x: Any) -> np.ndarray:
    """The elements' bits as unsigned integers of the same width, with the same shape."""
    x = np.asarray(x)
    return np.ascontiguousarray(x).reshape(x.shape).view(f"u{x.dtype.itemsize}")


def from_bits(pattern: np.ndarray, dtype: Any) -> np.ndarray:
    dtype = np.dtype(dtype)
    assert pattern.dtype == np.dtype(f"u{dtype.itemsize}"), (pattern.dtype, dtype)
    return pattern.view(dtype)


def is_nan(x: np.ndarray) -> np.ndarray:
    if not is_float(x.dtype):
        return np.zeros(x.shape, bool)
    return _magnitude(x) > _infinity(x.dtype)


def _infinity(dtype: np.dtype[Any]) -> int:
    mantissa = mantissa_bits(dtype)
    return ((1 << (8 * dtype.itemsize - 1 - mantissa)) - 1) << mantissa


def _magnitude(x: np.ndarray) -> np.ndarray:
    pattern = bits(x)
    return (pattern & pattern.dtype.type(np.iinfo(pattern.dtype).max >> 1)).astype(np.int64)


def ranks(x: np.ndarray, nan: str = "highest") -> np.ndarray:
    """A signed 64-bit rank for every element, equal for equal elements; NaNs at the end named."""
    assert nan in ("highest", "lowest")
    x = np.asarray(x)
    if is_float(x.dtype):
        magnitude = _magnitude(x)
        negative = (bits(x) >> (8 * x.dtype.itemsize - 1)).astype(bool)
        rank = np.where(negative, -magnitude, magnitude)
        return np.where(magnitude > _infinity(x.dtype), _HIGHEST if nan == "highest" else _LOWEST, rank)
    if x.dtype == np.uint64:
        return (x ^ np.uint64(1 << 63)).view(np.int64)
    return x.astype(np.int64)


def argsort(x: Any, axis: int = -1, descending: bool = False, nan_last: bool = False) -> np.ndarray:
    x = np.asarray(x)
    rank = ranks(x, "lowest" if descending and nan_last else "highest")
    if descending:
        rank = ~rank  # reverses the order with no overflow at the lowest rank
    return np.argsort(rank, axis=axis, kind="stable").astype(np.int64)


def take(x: np.ndarray, indices: np.ndarray, axis: int) -> np.ndarray:
    """The elements at `indices` along `axis`, moved as bits."""
    return from_bits(np.take_along_axis(bits(x), indices, axis), x.dtype)


def sort(x: Any, axis: int = -1, descending: bool = False, nan_last: bool = False) -> np.ndarray:
    x = np.asarray(x)
    return take(x, argsort(x, axis, descending, nan_last), axis)


def top_k(x: Any, k: int, axis: int = -1, largest: bool = True, nan_last: bool = False) -> tuple[np.ndarray, np.ndarray]:
    x = np.asarray(x)
    order = argsort(x, axis, largest, nan_last)
    assert 0 <= k <= x.shape[axis]
    indices = order[(slice(None),) * (axis % x.ndim) + (slice(0, k),)]
    return take(x, indices, axis), indices


def top_k_long(x: np.ndarray, k: int, largest: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """`top_k` of one long row: partitions of its blocks in place of a sort, for less memory."""
    assert x.ndim == 1 and 1 <= k <= x.size
    block = max(BLOCK, k)
    found = []
    for start in range(0, x.size, block):
        rank = ranks(x[start : start + block])
        if largest:
            rank = ~rank
        if k < rank.size:
            bound = np.partition(rank, k - 1)[k - 1]
            chosen = np.flatnonzero(rank <= bound)  # ascending: ties keep their lowest indices
        else:
            chosen = np.arange(rank.size)
        order = chosen[np.argsort(rank[chosen], kind="stable")][:k]
        found.append((rank[order], start + order))
    rank, indices = (np.concatenate(parts) for parts in zip(*found, strict=True))
    # Equal ranks lie in the order of their indices, in a block and from block to block.
    indices = indices[np.argsort(rank, kind="stable")][:k].astype(np.int64)
    return take(x, indices, 0), indices


def arg_reduce(
    x: Any,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    select_last: bool = False,
    largest: bool = True,
    nan_last: bool = False,
) -> np.ndarray:
    """Index of the extreme, flattened row-major over the reduced axes in ascending order."""
    x = np.asarray(x)
    if axis is None:
        axes = list(range(x.ndim))
    else:
        axes = sorted(a % x.ndim for a in ([axis] if isinstance(axis, int | np.integer) else axis))
    assert len(set(axes)) == len(axes)
    kept = [a for a in range(x.ndim) if a not in axes]
    rank = ranks(x, nan="highest" if largest != nan_last else "lowest")
    lines = rank.transpose(*kept, *axes).reshape([x.shape[a] for a in kept] + [int(np.prod([x.shape[a] for a in axes]))])
    find = np.argmax if largest else np.argmin
    result = lines.shape[-1] - 1 - find(lines[..., ::-1], axis=-1) if select_last else find(lines, axis=-1)
    result = np.asarray(result, np.int64)
    if keepdims:
        result = result.reshape([1 if a in axes else x.shape[a] for a in range(x.ndim)])
    return result


def extreme(
    x: Any,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    select_last: bool = False,
    largest: bool = True,
    nan_last: bool = False,
) -> np.ndarray:
    """The elements that `arg_reduce` points at, moved as bits."""
    x = np.asarray(x)
    indices = arg_reduce(x, axis, keepdims, select_last, largest, nan_last)
    axes = range(x.ndim) if axis is None else sorted(a % x.ndim for a in ([axis] if isinstance(axis, int | np.integer) else axis))
    kept = [a for a in range(x.ndim) if a not in axes]
    length = int(np.prod([x.shape[a] for a in axes]))
    lines = bits(x).transpose(*kept, *axes).reshape(-1, length)
    return from_bits(np.take_along_axis(lines, indices.reshape(-1, 1), 1).reshape(indices.shape), x.dtype)


def argmax(x: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, select_last: bool = False) -> np.ndarray:
    return arg_reduce(x, axis, keepdims, select_last, largest=True)


def argmin(x: Any, axis: int | Sequence[int] | None = None, keepdims: bool = False, select_last: bool = False) -> np.ndarray:
    return arg_reduce(x, axis, keepdims, select_last, largest=False)


def nothing(dtype: Any, largest: bool = True) -> np.ndarray:
    """What stands where a sequence has no item for a rank: the last number in the order."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array(not largest)
    if is_float(dtype):
        return np.array(-np.inf if largest else np.inf).astype(dtype)
    return np.array(np.iinfo(dtype).min if largest else np.iinfo(dtype).max, dtype)


def ragged_top_k(
    lines: np.ndarray,
    k: int,
    largest: bool = True,
    *,
    starts: Any = 0,
    lengths: Any = None,
    counts: Any = None,
    nan_last: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Values and indices of the first k of a span of each of the lines, a row each.

    Numbers beyond a line are cut to it. Ranks without an item have index -1 and `nothing`.
    """
    count, n = lines.shape
    starts = np.clip(np.broadcast_to(starts, count).astype(object), 0, n)
    lengths = np.clip(np.broadcast_to(n if lengths is None else lengths, count).astype(object), 0, n - starts)
    counts = np.clip(np.broadcast_to(k if counts is None else counts, count).astype(object), 0, k)
    values = np.full((count, k), nothing(lines.dtype, largest))
    indices = np.full((count, k), -1, np.int64)
    for row, (start, length, wanted) in enumerate(zip(starts, lengths, counts, strict=True)):
        found = min(length, wanted)
        part, places = top_k(lines[row, start : start + length], found, -1, largest, nan_last)
        values[row, :found] = from_bits(bits(part), lines.dtype)
        indices[row, :found] = places + start
    return values, indices


def assert_same(actual: Any, expected: Any, case: object = "") -> None:
    """Same type, same shape, same bits."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{case}: dtype {actual.dtype}, expected {expected.dtype}"
    assert actual.shape == expected.shape, f"{case}: shape {actual.shape}, expected {expected.shape}"
    got, want = bits(actual), bits(expected)
    if np.array_equal(got, want):
        return
    wrong = np.argwhere(got != want)
    first = tuple(int(i) for i in wrong[0])
    raise AssertionError(
        f"{case}: {len(wrong)} of {want.size} elements differ, the first at {first}: "
        f"{actual[first]!r} ({int(got[first]):#x}), expected {expected[first]!r} ({int(want[first]):#x})"
    )
