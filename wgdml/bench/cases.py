"""What is measured: cases, with others' figures and goals that they are held against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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
    """One operator on one shape. ``figures``: microseconds that others took, and the goal."""

    operator: str  #: "argmax", "topk" or "sort"
    shape: tuple[int, ...]
    axis: int
    k: int
    figures: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    all_data: bool = False  #: also timed, unless told otherwise, on every kind of data
    curve: str = ""  #: the growth curve that this is a point of
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
    def length(self) -> int:
        return self.shape[self.axis]

    @property
    def sequences(self) -> int:
        return self.elements // self.length

    @property
    def result_shape(self) -> tuple[int, ...]:
        return (*self.shape[: self.axis], self.k, *self.shape[self.axis + 1 :])

    @property
    def goal(self) -> float | None:
        return self.figures.get("goal")


@dataclass(frozen=True)
class Preset:
    """The cases for one kind of adapter."""

    name: str
    cases: tuple[Case, ...]
    curves: tuple[Case, ...]
    source: str
    adapter: str = ""  #: Part of the name of the one that figures hold for; empty for all.


SOURCES = {
    "gpu": "one NVIDIA H200 (driver 580, CUDA 13.0), clocks warm, device time in us, float32 normal data: torch 2.11, RAFT 26.10 "
    "select_k (sorted; ties not settled), CUB of CCCL 3.5 (unsorted; ties not settled), a prototype's best",
    "software": "lavapipe on two CPU cores, in us, float32 normal data: NumPy 2.4, ONNX Runtime 1.31 (CPU), torch 2.13 (CPU), and, "
    "on data in the adapter's memory, ONNX Runtime 1.27's WebGPU and tinygrad 0.14's; compare ratios only",
}


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


def _case(name: str, *, spread: bool = False, curve: str = "", **figures: float) -> Case:
    return replace(parse(name), figures=MappingProxyType(figures), all_data=spread, curve=curve)


_GPU = (
    _case("argmax:1x2^28", torch=291, cub=242, prototype=239, goal=241, spread=True),
    _case("argmax:4096x65536", torch=290, prototype=241, goal=242),
    _case("argmax:4096x65536:axis0", torch=325, prototype=242, goal=247, spread=True),
    _case("argmax:64x128x256x128:axis1", torch=375, goal=247),
    _case("argmax:1024x1000", torch=10.0, prototype=6.7, goal=6),
    _case("argmax:64x50257", torch=19.1, goal=9),
    _case("topk:1024x1000:k5", torch=92, raft=27, prototype=9.0, goal=8),
    _case("topk:65536x1000:k5", torch=2241, raft=446, prototype=152, goal=90, spread=True),
    _case("topk:1000000x100:k10", torch=6337, raft=1650, prototype=830, goal=220, spread=True),
    _case("topk:64x50257:k50", torch=116, raft=60, goal=25, spread=True),
    _case("topk:64x131072:k50", torch=171, raft=84, goal=30),
    _case("topk:256x131072:k50", torch=491, raft=162, goal=60),
    _case("topk:1x2^20:k1024", torch=153, raft=114, cub=27, goal=40, spread=True),
    _case("topk:1x2^22:k100", torch=170, raft=217, cub=31, goal=30),
    _case("topk:1x2^26:k100", torch=1373, raft=445, cub=161, goal=85, spread=True),
    _case("topk:1x2^28:k100", torch=5260, raft=854, cub=554, prototype=244, goal=280, spread=True),
    _case("topk:1x2^28:k2048", torch=5333, raft=822, cub=558, goal=310),
    _case("topk:1x2^26:k4096", torch=1330, raft=355, cub=167, goal=130, spread=True),
    _case("topk:1x2^28:k2^20", torch=5408, raft=7341, cub=1602, goal=1100, spread=True),
    _case("topk:4096x1024:axis0:k10", torch=208, goal=25, spread=True),
    _case("topk:65536x1024:axis0:k10", torch=2359, goal=110),
    _case("sort:16384x2048", torch=1580, raft=6357, goal=700, spread=True),
    _case("sort:8192x8192", torch=7199, raft=6520, goal=2200, spread=True),
)

_GPU_CURVES = (
    *(_case(f"argmax:1x2^{p}", curve="argmax of 1 x n") for p in (26, 27, 28)),
    *(_case(f"topk:1x2^{p}:k100", curve="top-k 100 of 1 x n") for p in (26, 27, 28)),
    *(_case(f"topk:{rows}x1000:k5", curve="top-k 5 of rows x 1000") for rows in (8192, 16384, 32768, 65536, 131072, 262144)),
    *(_case(f"topk:1x2^28:k{k}", curve="top-k of 1 x 2^28 by k") for k in (10, 30, 100, 300, 1000)),
)

_SOFTWARE = (
    _case("argmax:1x2^24", numpy=2300, ort_cpu=12900, torch_cpu=28000, ort_webgpu=80500, tinygrad=54800, spread=True),
    _case("argmax:4096x4096", numpy=2700, ort_cpu=7100, torch_cpu=14300, ort_webgpu=12500, tinygrad=30900),
    _case("argmax:4096x4096:axis0", numpy=133000, ort_cpu=50000, torch_cpu=42000, ort_webgpu=19900, tinygrad=36800),
    _case("argmax:32x128x256x32:axis1", numpy=147000, ort_cpu=53000, torch_cpu=82000, ort_webgpu=34400, tinygrad=245000),
    _case("argmax:64x128x256x32:axis1", numpy=382000, ort_cpu=125000, torch_cpu=185000, ort_webgpu=108000),
    _case("topk:1024x1000:k5", numpy=10300, ort_cpu=610, torch_cpu=1160, ort_webgpu=366000, tinygrad=879000),
    _case("topk:64x50257:k50", numpy=28000, ort_cpu=1800, torch_cpu=3200, ort_webgpu=2870000, tinygrad=320000000, spread=True),
    _case("topk:1x2^22:k100", numpy=38000, ort_cpu=2700, torch_cpu=52000, ort_webgpu=5270000, spread=True),
    _case("topk:1x2^20:k1024", numpy=14600, ort_cpu=1300, torch_cpu=3500, ort_webgpu=1083000),
    _case("topk:4096x1024:axis0:k10", numpy=100000, ort_cpu=32000, torch_cpu=16000, ort_webgpu=1702000, tinygrad=15800000),
    _case("topk:1x1x3x4:k2", numpy=36, ort_cpu=10, torch_cpu=8, ort_webgpu=280, tinygrad=23000),
)

_SOFTWARE_CURVES = (
    *(_case(f"argmax:1x2^{p}", curve="argmax of 1 x n") for p in (22, 23, 24)),
    *(_case(f"topk:1x2^{p}:k100", curve="top-k 100 of 1 x n") for p in (20, 21, 22)),
    *(_case(f"topk:{rows}x1000:k5", curve="top-k 5 of rows x 1000") for rows in (512, 1024, 2048, 4096)),
    *(_case(f"topk:1x2^22:k{k}", curve="top-k of 1 x 2^22 by k") for k in (10, 30, 100, 300, 1000)),
)

_QUICK = (
    _case("argmax:1x2^16", spread=True),
    _case("argmax:256x1000"),
    _case("argmax:256x1000:axis0"),
    _case("topk:256x1000:k5", spread=True),
    _case("topk:1x2^16:k100"),
    _case("topk:1x2^16:k1024"),
    _case("topk:1024x256:axis0:k10"),
    _case("sort:64x1024"),
)

#: Rows with larger k, which the tables above have few of.
_LARGE_K = tuple(
    _case(f"topk:{shape}:k{k}")
    for shape, ks in (
        ("10000x1000", (50, 100, 200)),
        ("10000x3000", (50, 100, 300, 500)),
        ("4096x4096", (50, 200, 500)),
        ("1000x8192", (50, 200, 1000)),
        ("1000x20000", (50, 200, 500)),
        ("1x50257", (50, 300, 1000)),
        ("64x50257", (100, 300, 1000)),
        ("1000x50257", (50, 300, 1000)),
        ("256x65536", (300, 1000, 2000)),
        ("8x131072", (100, 1000)),
        ("64x131072", (100, 300, 1000, 2000, 4000)),
        ("256x131072", (200, 1000)),
        ("32x2^20", (100, 1000)),
    )
    for k in ks
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
PRESETS = {
    "gpu": Preset("gpu", _GPU, _GPU_CURVES, SOURCES["gpu"], "NVIDIA H200"),
    "software": Preset("software", _SOFTWARE, _SOFTWARE_CURVES, SOURCES["software"]),
    "large-k": Preset("large-k", _LARGE_K, (), "none"),
    "any": Preset("any", (), (), "none"),
    "quick": Preset("quick", _QUICK, (), "none"),
}


def with_dtypes(cases: Iterable[Case], dtypes: Iterable[str]) -> list[Case]:
    """The cases of float32 in each of these types. Others' figures are for float32 alone."""
    dtypes = list(dtypes)
    return [
        case if dtype == case.dtype else replace(case, dtype=dtype, figures=MappingProxyType({}), curve="")
        for case in cases
        for dtype in (dtypes if case.dtype == "float32" else [case.dtype])
    ]


def choose(cases: Iterable[Case], patterns: str | None) -> list[Case]:
    """The cases whose names match a pattern; then patterns that match none and are names.

    Patterns are comma-separated, with ``*`` and ``?``, or parts of a name. Others: ``ValueError``.
    """
    cases = list(cases)
    wanted = [p.strip() for p in (patterns or "").split(",") if p.strip()]
    if not wanted:
        return cases
    own = [parse(p) for p in dict.fromkeys(wanted) if not any(_matches(c.name, p) for c in cases)]
    return [c for c in cases if any(_matches(c.name, p) for p in wanted)] + own


def _matches(name: str, pattern: str) -> bool:
    if name == pattern:
        return True
    return fnmatchcase(name, pattern) if any(c in pattern for c in "*?[") else pattern in name
