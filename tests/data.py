"""Inputs that break selection kernels, by name and element type; the same for the same seed."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np
import oracle

#: The whole product of what tests are about, for GPUs.
EVERYTHING = os.environ.get("WGDML_EDGES") == "all"
_One = TypeVar("_One")
_Other = TypeVar("_Other")


def in_turn(some: Iterable[_One], first: int = 0, step: int = 2) -> list[_One]:
    """All, or one in so many: a software adapter takes seconds to compile each kernel."""
    return list(some) if EVERYTHING else list(some)[first::step]


def paired(some: Iterable[_One], others: Sequence[_Other], first: int = 0) -> list[tuple[_One, _Other]]:
    """Each with all of the others, or with one of them by turns."""
    if EVERYTHING:
        return list(product(some, others))
    return [(one, others[(first + turn) % len(others)]) for turn, one in enumerate(some)]


Generator = Callable[[np.random.Generator, np.dtype[Any], tuple[int, ...]], np.ndarray]


def _random_bits(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return rng.integers(0, np.iinfo(unsigned).max, shape, unsigned, endpoint=True).view(dtype)


def _pattern(value: int, dtype: np.dtype[Any]) -> np.ndarray:
    """A 0-d array with these bits."""
    return np.array(value, f"u{dtype.itemsize}").view(dtype)


def _choose(rng: np.random.Generator, choices: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    pattern = oracle.bits(choices)
    return oracle.from_bits(pattern[rng.integers(0, len(pattern), shape)], choices.dtype)


def _limits(dtype: np.dtype[Any]) -> np.ndarray:
    """Lowest and highest element; infinities for floats."""
    if dtype == np.bool_:
        return np.array([False, True])
    if oracle.is_float(dtype):
        return np.array([-np.inf, np.inf]).astype(dtype)
    return np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)


def random(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Every bit at random, so floats of every magnitude with NaNs and denormals among them."""
    return _random_bits(rng, dtype, shape)


def sorted_(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Ascending over the whole array in memory order."""
    return oracle.sort(_random_bits(rng, dtype, shape).reshape(-1)).reshape(shape)


def reversed_(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    return oracle.sort(_random_bits(rng, dtype, shape).reshape(-1), descending=True).reshape(shape)


def constant(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """One value throughout: every answer is settled by index alone."""
    return np.full(shape, np.array(1).astype(dtype))


def eight_values(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    return _choose(rng, np.arange(8).astype(dtype), shape)


def few_distinct(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Three values of which one is rare."""
    picks = rng.choice(3, shape, p=[0.49, 0.49, 0.02])
    return np.array([1, 0, 2]).astype(dtype)[picks]


def shared_leading_bits(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Elements that differ in their last quarter of bits: a radix select sees one full bucket."""
    if dtype == np.bool_:
        return _random_bits(rng, dtype, shape)
    width = 8 * dtype.itemsize
    base = oracle.bits(np.array(1).astype(dtype))
    low = rng.integers(0, 1 << (width // 4), shape, np.uint64, endpoint=False).astype(base.dtype)
    return oracle.from_bits((base >> (width // 4) << (width // 4)) | low, dtype)


def _mostly(filling: np.ndarray, rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    result = np.full(shape, filling)
    few = rng.random(shape) < 0.001
    if result.size:
        few.reshape(-1)[rng.integers(0, result.size)] = True
    result[few] = ~filling if dtype == np.bool_ else _random_bits(rng, dtype, (int(few.sum()),))
    return result


def mostly_infinity(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """99.9% at the low end of the type (-infinity for floats), the rest at random."""
    return _mostly(_limits(dtype)[0], rng, dtype, shape)


def mostly_plus_infinity(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """99.9% at the high end of the type (+infinity for floats), the rest at random."""
    return _mostly(_limits(dtype)[1], rng, dtype, shape)


def negative(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Below zero, infinity included; of unsigned types the upper half; of bool anything."""
    if dtype == np.bool_:
        return _random_bits(rng, dtype, shape)
    sign = np.uint64(1 << (8 * dtype.itemsize - 1))
    last = np.uint64(int(oracle.bits(_limits(dtype)[1])) if oracle.is_float(dtype) else int(sign) - 1)
    magnitude = rng.integers(1, last, shape, np.uint64, endpoint=True)
    return (sign | magnitude).astype(f"u{dtype.itemsize}").view(dtype)


def extremes(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """The ends of the type and their neighbours; for integers the sign changes too."""
    if dtype == np.bool_:
        return _random_bits(rng, dtype, shape)
    if oracle.is_float(dtype):
        sign = 1 << (8 * dtype.itemsize - 1)
        infinity = int(oracle.bits(_limits(dtype)[1]))
        one = int(oracle.bits(np.array(1).astype(dtype)))
        magnitudes = [0, 1, one, infinity - 1, infinity]
        choices = np.array([_pattern(m | s, dtype) for m in magnitudes for s in (0, sign)], dtype)
    else:
        low, high = (int(v) for v in _limits(dtype))
        values = {low, low + 1, high, high - 1, 0, 1, (low + high) // 2, (low + high) // 2 + 1} | ({-1} if low < 0 else set())
        choices = np.array(sorted(values), dtype)
    return _choose(rng, choices, shape)


def denormals(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Denormals of both signs and the two zeros: flushing any of them changes the order."""
    sign = rng.integers(0, 2, shape, np.uint64) << np.uint64(8 * dtype.itemsize - 1)
    fraction = rng.integers(0, 1 << oracle.mantissa_bits(dtype), shape, np.uint64)
    return (sign | fraction).astype(f"u{dtype.itemsize}").view(dtype)


def signed_zeros(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """-0.0 and +0.0 (equal to each other), with the smallest denormals on both sides."""
    sign = 1 << (8 * dtype.itemsize - 1)
    choices = np.array([_pattern(v, dtype) for v in [0, sign] * 8 + [1, sign | 1]], dtype)
    return _choose(rng, choices, shape)


def nan_payloads(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """One element in four is a NaN: quiet and signalling, of both signs, of random payloads."""
    width, mantissa = 8 * dtype.itemsize, oracle.mantissa_bits(dtype)
    exponent = np.uint64(((1 << (width - 1 - mantissa)) - 1) << mantissa)
    sign = rng.integers(0, 2, shape, np.uint64) << np.uint64(width - 1)
    payload = rng.integers(1, 1 << mantissa, shape, np.uint64)
    nans = (sign | exponent | payload).astype(f"u{dtype.itemsize}")
    return np.where(rng.random(shape) < 0.25, nans, oracle.bits(_random_bits(rng, dtype, shape))).view(dtype)


def one_stride(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Of each row's loads of 16 bytes, every so many hold all that is best: one subset has all."""
    width = shape[-1] if shape else 1
    apart = 1 << int(rng.integers(2, 9))
    mine = np.arange(width) // (16 // dtype.itemsize) % apart == int(rng.integers(0, apart))
    low, high = rng.integers(0, 4, shape), rng.integers(4, 100, shape)
    if dtype == np.bool_:
        low, high = low * 0, high * 0 + 1
    return np.where(mine, high, low).reshape(shape).astype(dtype)


_ANY: dict[str, Generator] = {
    "random": random,
    "sorted": sorted_,
    "reversed": reversed_,
    "constant": constant,
    "eight_values": eight_values,
    "few_distinct": few_distinct,
    "shared_leading_bits": shared_leading_bits,
    "mostly_infinity": mostly_infinity,
    "mostly_plus_infinity": mostly_plus_infinity,
    "extremes": extremes,
    "negative": negative,
    "one_stride": one_stride,
}
_FLOAT: dict[str, Generator] = {
    "denormals": denormals,
    "signed_zeros": signed_zeros,
    "nan_payloads": nan_payloads,
}
KINDS: dict[str, Generator] = {**_ANY, **_FLOAT}


def kinds(dtype: Any) -> list[str]:
    """The names of the kinds of data that this type has."""
    return list(KINDS if oracle.is_float(dtype) else _ANY)


def make(kind: str, dtype: Any, shape: int | tuple[int, ...], seed: int = 0) -> np.ndarray:
    dtype = np.dtype(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if kind not in kinds(dtype):
        raise ValueError(f"no data of kind {kind!r} for {dtype}")
    rng = np.random.default_rng([seed, zlib.crc32(f"{kind} {dtype} {shape}".encode())])
    result = KINDS[kind](rng, dtype, shape)
    assert result.dtype == dtype and result.shape == shape, (kind, result.dtype, result.shape)
    return result


#: How many strided subsets of a row have one large item, two in two loads, and nothing else: cases
#: for k = 20.
SUBSETS = ((20, 0, 0), (19, 1, 0), (0, 10, 0), (0, 25, 0), (0, 0, 3), (10, 0, 5), (19, 0, 1), (5, 5, 8), (30, 30, 0))


def in_subsets(counts: tuple[int, int, int], n: int, per_load: int, subsets: int, rng: np.random.Generator) -> np.ndarray:
    """A row of small numbers, and in so many subsets large ones; p holds p, p + subsets, ..."""
    alone, twins, whole = counts
    loads = np.arange(n) // per_load
    order, member = rng.permutation(subsets)[loads % subsets], loads // subsets
    one = np.arange(n) % per_load == rng.integers(per_load)
    x = rng.integers(0, 20, n)
    x[one & (order < alone) & (member == rng.integers(member.max()))] += 100
    twin = (order >= alone) & (order < alone + twins)
    x[one & twin & ((member == 0) | (member == member.max() - 1))] += 100
    return x + np.where((order >= alone + twins) & (order < alone + twins + whole), 25 * (order % 4 + 1), 0)
