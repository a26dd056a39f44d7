"""Checks of arguments, each in one place: what a function takes, as the rest works with it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from math import prod
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .contract import DataType
from .quantiles import METHODS
from .selection import FORMATS, Order

#: Where NaN comes, of functions that select.
Nan = Literal["greatest", "last"]
#: One axis, several, or all.
Axes = SupportsIndex | Sequence[SupportsIndex] | None

#: Of a tensor, by the contract.
MOST_ELEMENTS = 2**32 - 1


def as_int(name: str, value: SupportsIndex) -> int:
    """An integer of any library; no bool, which in Python is one too."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, not the bool {value!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None


def as_ints(name: str, values: SupportsIndex | Sequence[SupportsIndex]) -> tuple[int, ...]:
    """One integer or several."""
    if isinstance(values, str | bytes):
        raise TypeError(f"{name} must be integers, not {values!r}")
    try:
        items = list(values)  # type: ignore[arg-type]
    except TypeError:
        return (as_int(name, values),)  # type: ignore[arg-type]
    return tuple(as_int(f"each of {name}", v) for v in items)


def as_sizes(values: SupportsIndex | Sequence[SupportsIndex], name: str = "shape") -> tuple[int, ...]:
    shape = as_ints(name, values)
    if any(n < 0 for n in shape):
        raise ValueError(f"{name} must have no negative size, not {shape}")
    return shape


def as_axis(axis: SupportsIndex, ndim: int) -> int:
    """An axis, counted from the first; negative ones are given from the last."""
    number = as_int("axis", axis)
    if not ndim:
        raise ValueError("x must have at least one dimension")
    return _in_range(number, ndim)


def _in_range(number: int, ndim: int) -> int:
    if not ndim:
        raise ValueError(f"axis must be None or () for x without dimensions, not {number}")
    if not -ndim <= number < ndim:
        raise ValueError(f"axis must lie in [{-ndim}, {ndim - 1}] for {ndim} dimensions, not {number}")
    return number % ndim


def as_axes(
    axis: SupportsIndex | Sequence[SupportsIndex] | None, shape: Sequence[int], none_is_well: bool = False
) -> tuple[int, ...]:
    """The axes of a reduction, ascending; all for None. ``ValueError`` for nothing to reduce."""
    ndim = len(shape)
    axes = tuple(range(ndim)) if axis is None else tuple(sorted(_in_range(a, ndim) for a in as_ints("axis", axis)))
    if not axes and axis is not None and not none_is_well:
        raise ValueError("axis must name at least one axis, not ()")
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis must name each axis once, not {axis!r}")
    if any(shape[a] == 0 for a in axes):
        raise ValueError(f"x of shape {tuple(shape)} has nothing to reduce along axis {axis!r}")
    return axes


def as_k(k: SupportsIndex, length: int) -> int:
    """How many elements of a sequence of ``length``."""
    count = as_int("k", k)
    if count < 0:
        raise ValueError(f"k must not be negative, not {count}")
    if count > length:
        raise ValueError(f"k must be at most the axis's size of {length}, not {count}")
    return count


def as_rank(k: SupportsIndex, length: int) -> int:
    """The rank, from 0, of the k-th element of a sequence of ``length``."""
    number = as_int("k", k)
    if not length:
        raise ValueError(f"x must have elements along its axis, of which k counts one, not {number}")
    if not 1 <= number <= length:
        raise ValueError(f"k must lie in [1, {length}], the axis's size, not {number}")
    return number - 1


def as_parts(kth: SupportsIndex | Sequence[SupportsIndex], length: int) -> tuple[int, ...]:
    """Ranks, from 0, at which a sequence of ``length`` is parted: ascending, each once."""
    numbers = as_ints("kth", kth)
    for number in numbers:
        if not length:
            raise ValueError(f"x must have elements along its axis, of which kth names one, not {number}")
        if not -length <= number < length:
            raise ValueError(f"kth must lie in [{-length}, {length - 1}] for an axis of {length}, not {number}")
    return tuple(sorted({number % length for number in numbers}))


def as_quantiles(q: NDArray[Any], method: str) -> NDArray[Any]:
    """Quantiles of a number's type of NumPy's own, and the method, checked."""
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    if q.dtype.name == "bfloat16":  # which NumPy has no arithmetic for
        q = q.astype(np.float32)
    # Types of other packages, as float8_e5m2, may have a kind of NumPy's.
    if q.dtype.kind not in "fiu" or not issubclass(q.dtype.type, np.number):
        raise TypeError(f"q must be numbers of NumPy's own data types or bfloat16, not {q!r}")
    outside = q[~((q >= 0) & (q <= 1))]
    if outside.size:
        raise ValueError(f"q must lie in [0, 1], not {outside.flat[0]}")
    return q


def as_omit(nan: str) -> bool:
    """Whether NaN is left out, for the functions where it else is the result."""
    return not _is_first("nan", nan, "propagate", "omit")


def as_order(mode: str, nan: str = "greatest") -> Order:
    largest = _is_first("mode", mode, "largest", "smallest")
    return with_nan(Order.DESCENDING if largest else Order.ASCENDING, nan)


def with_nan(order: Order, nan: str) -> Order:
    """The order with NaN where it already has it ("greatest"), or after every number ("last")."""
    return order if _is_first("nan", nan, "greatest", "last") else order.numbers_first


def _is_first(name: str, word: str, first: str, second: str) -> bool:
    if not isinstance(word, str) or word not in (first, second):
        raise ValueError(f'{name} must be "{first}" or "{second}", not {word!r}')
    return word == first


def as_flag(name: str, value: bool) -> bool:
    if value is True or value is False:
        return value
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def taken_shape(shape: Sequence[int], indices: Sequence[int], axis: int) -> tuple[int, ...]:
    """The shape of ``take_along_axis``: the indices', broadcast with x's but along the axis."""
    if len(indices) != len(shape):
        raise ValueError(f"indices must have x's {len(shape)} dimensions, not shape {tuple(indices)}")
    others = [1 if d == axis else n for d, n in enumerate(shape)]
    try:
        taken = broadcast_shape([others, indices])
    except ValueError:
        said = f"indices of shape {tuple(indices)} cannot be broadcast to x of shape {tuple(shape)} but for axis {axis}"
        raise ValueError(said) from None
    if 0 not in taken and shape[axis] == 0:
        raise ValueError(f"x of shape {tuple(shape)} has nothing to take along axis {axis}")
    return taken


def check_indices(indices: NDArray[Any], size: int) -> None:
    """``ValueError`` for indices out of an axis of this size. Negative ones count from the end."""
    if indices.size and not -size <= int(indices.min()) <= int(indices.max()) < size:
        raise ValueError(f"indices must lie in [{-size}, {size - 1}], not [{indices.min()}, {indices.max()}]")


def check_size(shape: Sequence[int]) -> None:
    """``ValueError`` for an x of more elements than a tensor may have."""
    if prod(shape) > MOST_ELEMENTS:
        raise ValueError(f"x has {prod(shape)} elements; a tensor has at most {MOST_ELEMENTS}")


def check_block(block: NDArray[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """``ValueError`` for a block of x that is not as x says."""
    if block.shape != shape or block.dtype != dtype:
        raise ValueError(f"x gave {block.dtype}{list(block.shape)} for a block of {dtype}{list(shape)}")


def broadcast_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The one shape of all of them, of any dimensions. ``ValueError`` where there is none."""
    shape: list[int] = []
    for sizes in zip_longest(*(s[::-1] for s in shapes), fillvalue=1):
        others = {int(n) for n in sizes} - {1}
        if len(others) > 1:
            raise ValueError(f"sizes {sorted(others)} cannot be one")
        shape.insert(0, min(others, default=1))
    return tuple(shape)


def broadcasts(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Can a shape be broadcast to another? NumPy's own answer ends at its most dimensions."""
    extra = len(target) - len(shape)
    return extra >= 0 and all(n in (1, m) for n, m in zip(shape, target[extra:], strict=True))


_INDEX_DTYPES: dict[Any, np.dtype[Any]] = {}
for _name in ("int64", "int32", "uint64", "uint32"):
    _dtype = np.dtype(_name)
    _INDEX_DTYPES |= {_name: _dtype, _dtype: _dtype, _dtype.type: _dtype}


def as_index_dtype(dtype: DTypeLike, name: str = "index_dtype") -> np.dtype[Any]:
    try:
        found = _INDEX_DTYPES.get(dtype)
        if found is None and dtype is not None:  # which NumPy takes for float64
            dtype = np.dtype(dtype)
            found = _INDEX_DTYPES.get(dtype)
    except (TypeError, ValueError, SyntaxError):  # NumPy parses strings
        found = None
    if found is None:
        given = dtype if isinstance(dtype, np.dtype) else repr(dtype)
        raise TypeError(f"{name} must be int64, int32, uint64 or uint32, not {given}")
    return found


def as_indices(indices: NDArray[Any]) -> NDArray[Any]:
    """Indices in an array, in a type that a device takes: narrower integers are widened."""
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, not {indices.dtype}")
    return indices if indices.itemsize >= 4 else indices.astype(np.int32)


def as_dtype(dtype: DTypeLike | DataType, name: str = "dtype", swapped: bool = False) -> np.dtype[Any]:
    """A data type with an order here. ``swapped``: of elements that may be in any byte order."""
    if dtype is None:
        raise TypeError(f"{name} must be a data type, not None")
    if isinstance(dtype, DataType):
        return dtype.numpy_dtype
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError) as error:  # NumPy parses strings
        raise TypeError(f"{name} must be a data type, not {dtype!r}: {error}") from None
    return own_dtype(found.newbyteorder("=") if swapped else found, name)


@lru_cache(maxsize=256)
def own_dtype(dtype: np.dtype[Any], name: str = "x") -> np.dtype[Any]:
    """Of data types that are equal the one that results have, which has no metadata."""
    return np.dtype(element_name(dtype, name))


@lru_cache(maxsize=256)
def element_name(dtype: np.dtype[Any], name: str = "x") -> str:
    """The element format of a NumPy data type. ``TypeError`` for those without an order here."""
    element = dtype.name
    if element not in FORMATS or dtype.byteorder == ">":
        kinds = "bool, int8 to int64, uint8 to uint64, float16, bfloat16 (ml_dtypes), float32 and float64"
        order = " in big-endian byte order" if element in FORMATS else ""
        raise TypeError(f"{name} has data type {element if order else dtype}{order}; supported are {kinds}, in native byte order")
    return element
