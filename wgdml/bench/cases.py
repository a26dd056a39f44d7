"""What is measured: cases by name, and tables of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import log2, prod
from types import MappingProxyType

import numpy as np

#: What the elements look like; ``data`` makes them.
DATA_KINDS = ("random", "sorted", "reversed", "constant", "eight_values", "shared_leading_bits", "sparse")

#: NumPy's names of the types that a case may have, and the bytes of an element.
DTYPES = MappingProxyType(
    {"float16": 2, "float32": 4, "float64": 8} | {f"{sign}int{8 * size}": size for sign in ("", "u") for size in (1, 2, 4, 8)}
)

_POWERS = {1 << p: f"2^{p}" for p in range(16, 33)}


@dataclass(frozen=True)
class Case:
    """One operator on one shape."""

    operator: str  #: "argmax", "topk" or "sort"
    shape: tuple[int, ...]
    axis: int
    k: int
    all_data: bool = False  #: also timed, unless told otherwise, on every kind of data
    dtype: str = "float32"

    @property
    def name(self) -> str:
        sizes = [_POWERS.get(n, str(n)) if self.shape[0] == 1 else str(n) for n in self.shape]
        parts = [self.operator, "x".join(sizes)]
        if self.axis != len(self.shape) - 1:
            parts.append(f"axis{self.axis}")
        if self.operator == "topk":
            parts.append(f"k{_POWERS.get(self.k, self.k)}")
        if self.dtype != "float32":
            parts.append(self.dtype)
        return ":".join(parts)

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * DTYPES[self.dtype]

    @property
    def largest(self) -> int:
        """Bytes of its largest array. Indices may take more than the elements."""
        return max(self.bytes, prod(self.result_shape) * max(4, DTYPES[self.dtype]))

    @property
    def length(self) -> int:
        return self.shape[self.axis]

    @property
    def sequences(self) -> int:
        return self.elements // self.length

    @property
    def result_shape(self) -> tuple[int, ...]:
        return (*self.shape[: self.axis], self.k, *self.shape[self.axis + 1 :])


_NUMBER = r"\d+(?:\^\d+)?"
_SHAPE, _DTYPE = rf"{_NUMBER}(?:x{_NUMBER})*", "|".join(DTYPES)
_NAME = re.compile(rf"(argmax|topk|sort):({_SHAPE})(?::axis(\d+))?(?::k({_NUMBER}))?(?::({_DTYPE}))?", re.ASCII)


def parse(name: str) -> Case:
    """The case of a name: ``topk:64x131072:k1000``, ``argmax:4096x4096:axis0``, ``sort:16x2^10``.

    The last ``:axisA`` and ``:float32`` are left out. ``ValueError`` where it is none.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(
            f"{name} is no name of a case: it must be like argmax:4096x4096:axis0, topk:64x131072:k1000 or sort:16x2^10"
        )
    operator, sizes, axis_text, k_text, dtype = match.groups()
    shape = tuple(_number(n) for n in sizes.split("x"))
    axis = len(shape) - 1 if axis_text is None else int(axis_text)
    if axis >= len(shape):
        raise ValueError(f"{name}: the axis must be below {len(shape)}")
    if (k_text is None) == (operator == "topk"):
        raise ValueError(f"{name}: {'it must have a :kK' if k_text is None else f'{operator} has no k'}")
    k = 1 if operator == "argmax" else shape[axis] if k_text is None else _number(k_text)
    if not all(0 < n < 1 << 32 for n in shape) or not 0 < k <= shape[axis]:
        raise ValueError(f"{name}: sizes must be from 1 to 2^32 - 1, and k from 1 to {shape[axis]}")
    return Case(operator, shape, axis, k, dtype=dtype or "float32")


def _number(text: str) -> int:
    base, _, power = text.partition("^")
    return int(min(int(base), 1 << 32) ** min(int(power or 1), 64))


def _cases(names: str) -> tuple[Case, ...]:
    """The cases of these names. A star says that all kinds of data tell something."""
    return tuple(replace(parse(name.rstrip("*")), all_data=name.endswith("*")) for name in names.split())


_GPU = _cases(
    """argmax:1x2^28* argmax:4096x65536 argmax:4096x65536:axis0* argmax:64x128x256x128:axis1 argmax:1024x1000 argmax:64x50257
    topk:1024x1000:k5 topk:65536x1000:k5* topk:1000000x100:k10* topk:64x50257:k50* topk:64x131072:k50 topk:256x131072:k50
    topk:1x2^20:k1024* topk:1x2^22:k100 topk:1x2^26:k100* topk:1x2^28:k100* topk:1x2^28:k2048 topk:1x2^26:k4096* topk:1x2^28:k2^20*
    topk:4096x1024:axis0:k10* topk:65536x1024:axis0:k10 sort:16384x2048* sort:8192x8192*"""
)
_SOFTWARE = _cases(
    """argmax:1x2^24* argmax:4096x4096 argmax:4096x4096:axis0 argmax:32x128x256x32:axis1 argmax:64x128x256x32:axis1
    topk:1024x1000:k5 topk:64x50257:k50* topk:1x2^22:k100* topk:1x2^20:k1024 topk:4096x1024:axis0:k10 topk:1x1x3x4:k2"""
)
_QUICK = _cases(
    """argmax:1x2^16* argmax:256x1000 argmax:256x1000:axis0 topk:256x1000:k5* topk:1x2^16:k100 topk:1x2^16:k1024
    topk:1024x256:axis0:k10 sort:64x1024"""
)
#: Rows with larger k, which the tables above have few of.
_LARGE_K = _cases(
    """topk:10000x1000:k50 topk:10000x1000:k100 topk:10000x1000:k200 topk:10000x3000:k50 topk:10000x3000:k100 topk:10000x3000:k300
    topk:10000x3000:k500 topk:4096x4096:k50 topk:4096x4096:k200 topk:4096x4096:k500 topk:1000x8192:k50 topk:1000x8192:k200
    topk:1000x8192:k1000 topk:1000x20000:k50 topk:1000x20000:k200 topk:1000x20000:k500 topk:1x50257:k50 topk:1x50257:k300
    topk:1x50257:k1000 topk:64x50257:k100 topk:64x50257:k300 topk:64x50257:k1000 topk:1000x50257:k50 topk:1000x50257:k300
    topk:1000x50257:k1000 topk:256x65536:k300 topk:256x65536:k1000 topk:256x65536:k2000 topk:8x131072:k100 topk:8x131072:k1000
    topk:64x131072:k100 topk:64x131072:k300 topk:64x131072:k1000 topk:64x131072:k2000 topk:64x131072:k4000 topk:256x131072:k200
    topk:256x131072:k1000 topk:32x2^20:k100 topk:32x2^20:k1000"""
)


def draw(seed: int, count: int, most: int) -> tuple[Case, ...]:
    """Problems that nobody tuned for, of up to ``most`` bytes: sizes and k are log-uniform."""
    rng = np.random.default_rng(seed)
    return tuple(_drawn(rng, most) for _ in range(count))


def _drawn(rng: np.random.Generator, most: int) -> Case:
    """Three of four are top-k, and as many along rows; the others go down columns."""
    operator = str(rng.choice(["topk", "argmax"], p=[0.75, 0.25]))
    dtype = str(rng.choice(["float32", "float16", "uint8", "int32", "int64"], p=[0.4, 0.25, 0.1, 0.1, 0.15]))
    elements = int(2 ** rng.uniform(16, log2(most / DTYPES[dtype])))
    length = int(2 ** rng.uniform(5, log2(elements)))
    rest = max(1, elements // length)
    inner = int(2 ** rng.uniform(0, log2(rest))) if rng.random() < 0.25 else 1
    shape = (rest, length) if inner == 1 else (max(1, rest // inner), length, inner)
    k = 1 if operator == "argmax" else int(2 ** rng.uniform(0, min(13, log2(length))))
    return Case(operator, shape, 1, k, dtype=dtype)


#: By name. "any" has the cases that ``draw`` draws. "quick" is the smoke test: every operator in a
#: few seconds, on any adapter.
PRESETS = {"gpu": _GPU, "software": _SOFTWARE, "large-k": _LARGE_K, "any": (), "quick": _QUICK}


def with_dtypes(cases: Iterable[Case], dtypes: Iterable[str]) -> list[Case]:
    """The cases of float32 in each of these types."""
    dtypes = list(dtypes)
    return [replace(case, dtype=dtype) for case in cases for dtype in (dtypes if case.dtype == "float32" else [case.dtype])]


def choose(cases: Iterable[Case], patterns: str | None) -> list[Case]:
    """The cases whose names match a pattern; then patterns that match none and are names.

    Patterns are comma-separated, with ``*`` and ``?``, or parts of a name; all cases for None.
    ``ValueError`` for others, and for none.
    """
    cases = list(cases)
    if patterns is None:
        return cases
    wanted = [p.strip() for p in patterns.split(",") if p.strip()]
    if not wanted:
        raise ValueError(f"must name a case, not {patterns!r}")
    own = [parse(p) for p in dict.fromkeys(wanted) if not any(_matches(c.name, p) for c in cases)]
    return [c for c in cases if any(_matches(c.name, p) for p in wanted)] + own


def _matches(name: str, pattern: str) -> bool:
    if name == pattern:
        return True
    return fnmatchcase(name, pattern) if any(c in pattern for c in "*?[") else pattern in name
