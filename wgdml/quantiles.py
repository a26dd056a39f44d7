"""Where quantiles lie among sorted elements, and what lies between two of them. NumPy alone.

The methods are NumPy's, which are those of Hyndman and Fan, "Sample quantiles in statistical
packages", The American Statistician 50(4), 1996. The arithmetic is that of ``numpy.quantile`` of
NumPy 2.4, operation by operation, so that results are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[Any]


@dataclass(frozen=True)
class Places:
    """Ranks, from 0, on both sides of each quantile."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    weight: _Array | None  #: Of the one after; None where the method picks ``before``.
    weak: bool  #: The weights take the elements' data type, as a Python float would.

    def between(self, a: _Array, b: _Array) -> _Array:
        """The quantiles, of the elements at the ranks before and after."""
        if self.weight is None:
            return a
        weight, rest = self.weight, 1 - self.weight
        late = weight >= 0.5
        if self.weak:
            dtype = np.result_type(a.dtype, 0.5)
            weight, rest = weight.astype(dtype), rest.astype(dtype)
        difference = b - a
        found: _Array = np.where(late, b - difference * rest, a + difference * weight)
        return found


def middle(a: _Array, b: _Array, odd: bool | NDArray[np.bool_]) -> _Array:
    """The median by the elements around it, which are one where their number is ``odd``."""
    one: _Array = np.mean(a[None], axis=0)
    both: _Array = np.mean(np.stack([a, b]), axis=0)
    return np.where(odd, one, both)


def _steps(n: _Array, q: _Array, alpha: float, beta: float) -> _Array:
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def _observed(index: _Array, keeps: Callable[[_Array, _Array], _Array]) -> _Array:
    """The rank at an index, or the one after where ``keeps`` does not hold."""
    before = np.floor(index)
    found = np.where(keeps(index - before, index), before, before + 1).astype(np.int64)
    return np.maximum(found, 0)


def _own(gamma: _Array, index: _Array) -> _Array:
    return gamma


@dataclass(frozen=True)
class _Method:
    index: Callable[[_Array, _Array, _Array], _Array]  #: Of how many, the last rank, and q.
    weight: Callable[[_Array, _Array], _Array] | None = None  #: None where an element is picked.


#: By NumPy's names.
METHODS: dict[str, _Method] = {
    "inverted_cdf": _Method(lambda n, last, q: _observed(n * q - 1, lambda gamma, _: gamma == 0)),
    "averaged_inverted_cdf": _Method(lambda n, last, q: n * q - 1, lambda gamma, _: np.where(gamma == 0, 0.5, 1.0)),
    "closest_observation": _Method(
        lambda n, last, q: _observed(n * q - 1 - 0.5, lambda gamma, index: (gamma == 0) & (np.floor(index) % 2 == 1))
    ),
    "interpolated_inverted_cdf": _Method(lambda n, last, q: _steps(n, q, 0, 1), _own),
    "hazen": _Method(lambda n, last, q: _steps(n, q, 0.5, 0.5), _own),
    "weibull": _Method(lambda n, last, q: _steps(n, q, 0, 0), _own),
    "linear": _Method(lambda n, last, q: last * q, _own),
    "median_unbiased": _Method(lambda n, last, q: _steps(n, q, 1 / 3.0, 1 / 3.0), _own),
    "normal_unbiased": _Method(lambda n, last, q: _steps(n, q, 3 / 8.0, 3 / 8.0), _own),
    "lower": _Method(lambda n, last, q: np.floor(last * q).astype(np.int64)),
    "higher": _Method(lambda n, last, q: np.ceil(last * q).astype(np.int64)),
    "midpoint": _Method(
        lambda n, last, q: 0.5 * (np.floor(last * q) + np.ceil(last * q)),
        lambda gamma, index: np.where(index % 1 == 0, 0.0, 0.5),
    ),
    "nearest": _Method(lambda n, last, q: np.around(last * q).astype(np.int64)),
}


def places(method: str, n: int | NDArray[np.int64], q: _Array, weak: bool) -> Places:
    """Where the quantiles ``q`` of ``n`` sorted elements lie; ``n`` is broadcast with q.

    ``weak``: q was given as a Python number.
    """
    kind = METHODS[method]
    exact, given = np.asarray(n, np.int64), q.dtype
    if q.dtype.kind in "iu":
        q = q.astype(np.int64)
    elif exact.max(initial=0) > np.finfo(q.dtype).max:
        q = q.astype(np.float64)  # A float16 counts to 65504.
    count, last = exact.astype(q.dtype), (exact - 1).astype(q.dtype)
    with np.errstate(all="ignore"):  # The least q of few bits underflow.
        index = np.asarray(kind.index(count, last, q))
    if kind.weight is None or (method == "linear" and index.dtype.kind in "iu"):
        picked = np.clip(index.astype(np.int64), 0, exact - 1)
        return Places(picked, picked, None, weak)
    before = np.floor(index)
    after = before + 1
    for outside, rank in ((index >= last, last), (index < 0, np.zeros_like(last))):
        before, after = np.where(outside, rank, before), np.where(outside, rank, after)
    # NumPy counts the last element as -1 here, and the weights with it: of two equal neighbours.
    first = np.where(index >= last, -1, before)
    weight = kind.weight(np.asarray(index - first), index).astype(index.dtype)
    if given != q.dtype and given.kind == weight.dtype.kind:  # which holds any weight but those
        limits = np.finfo(given) if given.kind == "f" else np.iinfo(given)
        weight = np.minimum(weight, limits.max).astype(given)
    # Few bits round to ranks that there are none of.
    before, after = (np.clip(rank.astype(np.int64), 0, exact - 1) for rank in (before, after))
    return Places(before, after, weight, weak)
