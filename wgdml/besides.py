"""Lengths, starts, counts and ids beside x: what functions take, checked before any GPU work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from .arguments import as_int, broadcast_shape, broadcasts
from .lines import batch_of
from .runtime.tensor import Tensor, as_numpy, integers_as_numpy
from .selection import SPANS


class Besides(NamedTuple):
    """What is given beside x."""

    shape: tuple[int, ...]  #: Of x, with a batch before it where one flat x has several spans.
    axes: tuple[int, ...]  #: Of this shape.
    tensors: Mapping[str, Tensor | NDArray[Any]]
    longest: int  #: A bound of the lengths; 0: the axis.

    def index_dtype(self, default: np.dtype[Any] | None) -> np.dtype[Any] | None:
        """That of what stands for each item, where it is given."""
        return next((t.dtype for name, t in self.tensors.items() if name not in SPANS), default)


def check_besides(shape: Sequence[int], axes: Sequence[int], k: int, given: Mapping[str, Any]) -> Besides:
    """Checks what is given beside an x of this shape, from which k are selected along the axes.

    Raises ``TypeError`` for lengths, starts and counts that are no integers, and for ids or a
    payload without 32 or 64 bits; ``ValueError`` for shapes that cannot be broadcast, and for
    numbers of arrays that are negative, beyond the axis or over k. Those of Tensors are not looked
    at.
    """
    tensors = {name: _as_tensor(name, value) for name, value in given.items() if name != "longest"}
    length = prod(shape[a] for a in axes)
    batch = batch_of(shape, axes)
    spans = {name: t for name, t in tensors.items() if name in SPANS}
    flat = len(shape) == 1
    if flat:
        try:
            batch = broadcast_shape([t.shape for t in spans.values()])
        except ValueError:
            said = ", ".join(f"{name} {t.shape}" for name, t in spans.items())
            raise ValueError(f"{' and '.join(spans)} must have shapes that can be broadcast together, not {said}") from None
    for name, tensor in spans.items():
        _check_broadcast(name, tensor.shape, batch, "x's shape without the axis")
    for name in tensors.keys() - spans.keys():
        _check_broadcast(name, tensors[name].shape, tuple(shape), "x's shape")
    _check_numbers(spans, length, k)
    most = _longest(spans, given.get("longest"), length, flat)
    if flat:
        return Besides((*batch, *shape), (len(batch),), tensors, most)
    return Besides(tuple(shape), tuple(axes), tensors, most)


def _as_tensor(name: str, value: Any) -> Tensor | NDArray[Any]:
    """A Tensor or an array of a data type that it may have."""
    read = as_numpy if name == "payload" else integers_as_numpy
    tensor = value if isinstance(value, Tensor) else read(value, name)
    if name == "payload" and not tensor.shape:  # ``numpy.sort`` has the axis in its place
        hint = f": an axis is given as axis={value}" if tensor.dtype.kind in "iu" and not isinstance(value, Tensor) else ""
        raise TypeError(f"payload must have a dimension, not {value}{hint}")
    if name not in SPANS:
        if tensor.dtype.itemsize not in (4, 8):
            raise TypeError(f"{name} must have a data type of 32 or 64 bits, not {tensor.dtype}")
    elif tensor.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, not {tensor.dtype}")
    return tensor


def _check_broadcast(name: str, shape: tuple[int, ...], target: tuple[int, ...], what: str) -> None:
    if not broadcasts(shape, target):
        raise ValueError(f"{name} must have {what}, {target}, or one that can be broadcast to it, not {shape}")


def _check_numbers(spans: Mapping[str, Tensor | NDArray[Any]], length: int, k: int) -> None:
    """``ValueError`` for numbers in arrays that no sequence of this length can have."""
    most = {"lengths": (length, "the axis's size of"), "starts": (length, "the axis's size of"), "counts": (k, "k =")}
    arrays = {name: t for name, t in spans.items() if isinstance(t, np.ndarray) and t.size}
    for name, array in arrays.items():
        low, high = int(array.min()), int(array.max())
        if low < 0:
            raise ValueError(f"{name} must not be negative, not {low}")
        if high > most[name][0]:
            raise ValueError(f"{name} must be at most {most[name][1]} {most[name][0]}, not {high}")
    if "lengths" in arrays and "starts" in arrays:
        end = int((arrays["starts"].astype(np.uint64) + arrays["lengths"].astype(np.uint64)).max())
        if end > length:
            raise ValueError(f"starts + lengths must be at most the axis's size of {length}, not {end}")


def _longest(spans: Mapping[str, Tensor | NDArray[Any]], longest: SupportsIndex | None, length: int, flat: bool) -> int:
    """The bound of lengths that is given, or that those of a flat x have; 0 for the axis."""
    lengths = spans.get("lengths")
    told = lengths if isinstance(lengths, np.ndarray) else None
    if longest is not None:
        bound = as_int("longest", longest)
        if lengths is None:
            raise ValueError(f"longest must be None without lengths, which it bounds, not {bound}")
        if bound < 1:
            raise ValueError(f"longest must be at least 1, not {bound}")
        if told is not None and told.max(initial=1) > bound:
            raise ValueError(f"lengths must be at most longest = {bound}, not {told.max()}")
        return 0 if bound >= length else bound
    if not flat or told is None or not told.ndim:
        return 0
    most = int(told.max(initial=1))
    # In few sizes, as each has a plan of its own: four from one power of two to the next.
    step = max(1, 1 << (most - 1).bit_length() >> 3)
    bound = -(-most // step) * step
    return 0 if bound >= length else bound
