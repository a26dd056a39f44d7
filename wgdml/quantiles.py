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

__all__ = ["METHODS", "Places", "middle", "places"]

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
        # An infinite neighbour gives NaN, without a warning here.
        with np.errstate(invalid="ignore", over="ignore"):
            difference = b - a
            found: _Array = np.where(late, b - difference * rest, a + difference * weight)
        return found


def middle(a: _Array, b: _Array, odd: bool | NDArray[np.bool_]) -> _Array:
    """The median by the elements around it, which are one where their number is ``odd``."""
    with np.errstate(invalid="ignore", over="ignore"):
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
    index: Callable[[_Array, _Array], _Array]
    weight: Callable[[_Array, _Array], _Array] | None = None  #: None where an element is picked.


#: By NumPy's names.
METHODS: dict[str, _Method] = {
    "inverted_cdf": _Method(lambda n, q: _observed(n * q - 1, lambda gamma, _: gamma == 0)),
    "averaged_inverted_cdf": _Method(lambda n, q: n * q - 1, lambda gamma, _: np.where(gamma == 0, 0.5, 1.0)),
    "closest_observation": _Method(
        lambda n, q: _observed(n * q - 1 - 0.5, lambda gamma, index: (gamma == 0) & (np.floor(index) % 2 == 1))
    ),
    "interpolated_inverted_cdf": _Method(lambda n, q: _steps(n, q, 0, 1), _own),
    "hazen": _Method(lambda n, q: _steps(n, q, 0.5, 0.5), _own),
    "weibull": _Method(lambda n, q: _steps(n, q, 0, 0), _own),
    "linear": _Method(lambda n, q: (n - 1) * q, _own),
    "median_unbiased": _Method(lambda n, q: _steps(n, q, 1 / 3.0, 1 / 3.0), _own),
    "normal_unbiased": _Method(lambda n, q: _steps(n, q, 3 / 8.0, 3 / 8.0), _own),
    "lower": _Method(lambda n, q: np.floor((n - 1) * q).astype(np.int64)),
    "higher": _Method(lambda n, q: np.ceil((n - 1) * q).astype(np.int64)),
    "midpoint": _Method(
        lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
        lambda gamma, index: np.where(index % 1 == 0, 0.0, 0.5),
    ),
    "nearest": _Method(lambda n, q: np.around((n - 1) * q).astype(np.int64)),
}


def places(method: str, n: int | NDArray[np.int64], q: _Array, weak: bool) -> Places:
    """Where the quantiles ``q`` of ``n`` sorted elements lie; ``n`` is broadcast with q.

    ``weak``: q was given as a Python number.
    """
    kind = METHODS[method]
    count = np.asarray(n, q.dtype)
    index = np.asarray(kind.index(count, q))
    if kind.weight is None or (method == "linear" and index.dtype.kind in "iu"):
        picked = index.astype(np.int64)
        return Places(picked, picked, None, weak)
    before, last = np.floor(index), count - 1
    after = before + 1
    for outside, rank in ((index >= last, last), (index < 0, np.zeros_like(last))):
        before, after = np.where(outside, rank, before), np.where(outside, rank, after)
    # NumPy counts the last element as -1 here, and the weights with it: of two equal neighbours.
    first = np.where(index >= last, -1, before)
    weight = kind.weight(np.asarray(index - first), index).astype(index.dtype)
    return Places(before.astype(np.int64), after.astype(np.int64), weight, weak)
