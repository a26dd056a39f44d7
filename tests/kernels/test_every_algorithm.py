"""Every algorithm by force through one list of edges: the oracle's values and indices.

The algorithms are those that are registered; a new one comes here by itself. Edges are counts of
ranks, lengths, element types, layouts and hostile data. Kernels take long to compile and shapes
less to run. So the default run looks for few kernels that meet every edge, and runs a third of the
shapes that they serve. Of types and layouts an algorithm takes some by turn, as all read them by
the same text. ``WGDML_EDGES=all`` runs the whole product, for GPUs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import Any

import data
import numpy as np
import oracle
import pytest
from checks import extent, packed, strided
from planning import ALGORITHMS, COLUMNS, SERIAL, SPANS, STEPS, answer, kernels_of, planned_device

from wgdml import shaders
from wgdml.plan import Planner
from wgdml.selection import Layout, Order, Selection, make_selection

#: Ranks at the edges of subgroups, workgroups and lists; each length adds itself and one less.
KS = (1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049)
#: Lengths at the edge of every tile, and long ones.
LENGTHS = (*(n + d for n in (1 << b for b in range(4, 15)) for d in (-1, 0, 1)), 50_003, 300_007)
#: Where algorithms are looked for that serve a type or a layout: length and ranks.
SERVED = ((1003, 17), (1003, 40), (203, 9), (1003, 250), (301, 300), (5003, 100), (90, 2), (1003, 1))
#: Cases that each algorithm must serve at least.
FEWEST = 20
FEWEST_OF_STEPS = 5
FEWEST_OF_COLUMNS = 4


@dataclass(frozen=True)
class Case:
    """A problem, apart from its data."""

    edge: str  #: what it is here for
    element: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    k: int
    strides: tuple[int, ...]
    offset: int = 0
    largest: bool = True
    values: bool = True
    indices: bool = True
    index_dtype: str = "uint32"

    @property
    def length(self) -> int:
        return prod(self.shape[d] for d in self.axes)

    @property
    def is_shape(self) -> bool:
        return self.edge.startswith("k = ")

    @property
    def is_layout(self) -> bool:
        return self.edge.partition(",")[0] in LAYOUTS

    @property
    def is_type(self) -> bool:
        return self.edge.startswith("type")

    def edges(self) -> tuple[str, ...]:
        return (self.edge, f"length {self.length}") if self.is_shape else (self.edge,)

    @property
    def result(self) -> tuple[int, ...]:
        """The shape of the results: k in the axis's place, or at the end for several axes."""
        if len(self.axes) == 1:
            return tuple(self.k if d in self.axes else n for d, n in enumerate(self.shape))
        return (*(n for d, n in enumerate(self.shape) if d not in self.axes), self.k)

    def selection(self) -> Selection:
        steps = list(packed(self.result))
        step = 1
        if len(self.axes) > 1:
            outer = iter(steps)
            steps = [0 if d in self.axes else next(outer) for d in range(len(self.shape))]
        elif self.k > 1:
            step = steps[self.axes[0]]
        out = Layout(tuple(1 if d in self.axes else n for d, n in enumerate(self.shape)), tuple(steps))
        made = make_selection(
            self.element,
            Layout(self.shape, self.strides),
            self.axes,
            self.k,
            Order.DESCENDING if self.largest else Order.ASCENDING,
            values=out if self.values else None,
            indices=out if self.indices else None,
            index_bytes=np.dtype(self.index_dtype).itemsize,
        )
        return replace(
            made, value_step=step if self.values else 0, index_step=step if self.indices else 0, input_offset=self.offset
        )

    def storage(self, kind: str, seed: int) -> np.ndarray:
        """The buffer's elements. Rows that lie one after the other have their own data."""
        return data.make(kind, self.element, self.offset + extent(self.shape, self.strides), seed)

    def expected(self, storage: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = strided(storage, self.shape, self.strides, self.offset)
        if len(self.axes) == 1:
            return oracle.top_k(x, self.k, self.axes[0], self.largest)
        kept = [d for d in range(x.ndim) if d not in self.axes]
        flat = x.transpose(*kept, *self.axes).reshape(*(x.shape[d] for d in kept), -1)
        return oracle.top_k(flat, self.k, -1, self.largest)


def rows(edge: str, n: int, k: int, element: str = "float32", count: int = 3, **more: Any) -> Case:
    return Case(edge, element, (count, n), (1,), k, (n, 1), **more)


def shapes(every_k: bool) -> Iterator[Case]:
    """Every length with every count of ranks; of long ones a third, with all about one power."""
    for number, n in enumerate(LENGTHS):
        counts = KS if every_k or n <= KS[-1] else KS[number % 3 :: 3]
        for k in sorted({k for k in counts if k <= n} | {n - 1, n}):
            at_end = {n: "n", n - 1: "n - 1"}.get(k, str(k))
            yield rows(f"k = {at_end}", n, k, count=1 if n > 20_000 else 3, largest=number % 2 == 0)


def types(turn: int | None) -> Iterator[Case]:
    """Every type; or one of each width, by turn: all kernels make keys by the same text."""
    for number, (element, dtype) in enumerate(oracle.DTYPES.items()):
        as_wide = [name for name, other in oracle.DTYPES.items() if other.itemsize == dtype.itemsize]
        if turn is not None and element != as_wide[turn % len(as_wide)]:
            continue
        for n, k in SERVED:
            for largest in (True, False) if data.EVERYTHING else (number % 2 == 0,):
                index_dtype = ("uint32", "int64")[number % 2]
                yield rows(f"type {element}", n, k, element, 2, largest=largest, index_dtype=index_dtype)


def layouts() -> Iterator[Case]:
    """Strides, offsets and axes; which element has which is a matter of few kernels."""
    elements = ("float32", "uint8", "int64", "float16")
    for number, (name, make) in enumerate(LAYOUTS.items()):
        for element in elements if data.EVERYTHING else (elements[number % 4],):
            for n, k in SERVED:
                shape, axes, strides, offset = make(n)
                yield Case(f"{name}, {element}", element, shape, axes, k, strides or packed(shape), offset)
    for element in elements if data.EVERYTHING else elements[:1]:
        for n, k in (*SERVED, (700, 700), (300, 300), (60, 60)):
            yield rows(f"values alone, {element}", n, k, element, indices=False, largest=False)
            yield rows(f"indices alone, {element}", n, k, element, values=False, largest=False)


#: Shape, axes, strides (None: packed) and offset by the length of a sequence.
LAYOUTS = {
    "rows that begin amid a load": lambda n: ((3, n), (1,), (n + 1, 1), 3),
    "padded rows": lambda n: ((5, n), (1,), (n + 13, 1), 0),
    "every second element": lambda n: ((3, n), (1,), (2 * n + 1, 2), 5),
    "a row for all": lambda n: ((4, n), (1,), (0, 1), 1),
    "an element for all": lambda n: ((3, n), (1,), (1, 0), 2),
    "columns": lambda n: ((n, 67), (0,), None, 0),
    "few padded columns": lambda n: ((n, 3), (0,), (7, 1), 2),
    "a middle axis": lambda n: ((2, n, 20), (1,), None, 0),
    "a strided middle axis": lambda n: ((3, n, 5), (1,), (11 * n + 3, 11, 2), 1),
    "rows in two dimensions": lambda n: ((2, 3, n), (2,), (4 * n + 9, n + 2, 1), 0),
    "two inner axes": lambda n: ((2, -(-n // 20), 20), (1, 2), (2 * n + 90, 24, 1), 4),
    "two outer axes": lambda n: ((-(-n // 20), 20, 3), (0, 1), None, 0),
    "two axes about another": lambda n: ((-(-n // 20), 3, 20), (0, 2), None, 0),
}


def many() -> Iterator[Case]:
    """Rows enough for algorithms that give each an invocation."""
    for n, k in ((40, 2), (100, 7), (1003, 16), (203, 9), (300, 100)):
        yield rows(f"many rows, k {k}", n, k, count=130)


def two_axes(every_type: bool) -> Iterator[Case]:
    """The best over two axes about another: every type, lengths about loads and tiles."""
    for number, element in enumerate(oracle.DTYPES if every_type else ()):
        shape = (21, 3, 9) if number % 2 else (9, 3, 21)
        yield Case(f"two axes, {element}", element, shape, (0, 2), 1, packed(shape), largest=number % 3 > 0)
    for a, b in ((8, 1), (1, 8), (7, 9), (257, 3), (3, 257), (4, 2049), (2049, 4), (300, 300)):
        shape = (a, 5, b, 6)
        yield Case(f"two axes of {a} and {b}", "float32", shape, (0, 2), 1, packed(shape))


@dataclass(frozen=True)
class Served:
    """A case, the algorithm by which it is forced, and the kernels that this takes."""

    case: Case
    by: str
    kernels: frozenset[Any]


def forced(algorithm: str, by: str, planner: Planner, cases: Iterable[Case]) -> list[Served]:
    """The cases that ``by`` serves with the algorithm in its plan. It refuses others."""
    found = []
    for case in cases:
        try:
            plan = planner.plan(case.selection(), algorithm=by)
        except ValueError as error:
            assert re.search(r"\d|ax[ei]s|pairs", str(error)), error
            continue
        if algorithm in plan.algorithms:
            found.append(Served(case, by, kernels_of(plan)))
    return found


def served(algorithm: str, planner: Planner) -> list[Served]:
    step = algorithm in STEPS
    turn = None if data.EVERYTHING else sorted(ALGORITHMS).index(algorithm)
    cases = [*shapes(data.EVERYTHING or step), *types(turn), *layouts(), *many()]
    # Others have two axes among the layouts, and every type along one axis.
    if data.EVERYTHING or "reduce" in algorithm:
        cases += two_axes(data.EVERYTHING or algorithm == "reduce_axes")
    # A part of others' plans is looked for in those that have it for some of the cases.
    ways = [by for by in ALGORITHMS if forced(algorithm, by, planner, cases[::7])] if step else [algorithm]
    found = [one for by in ways for one in forced(algorithm, by, planner, cases)]
    left = layouts_left(algorithm, (one.case for one in found))
    return [one for one in found if one.case.edge not in left]


def layouts_left(algorithm: str, cases: Iterable[Case]) -> set[str]:
    """Edges of layouts that others have by turn: two thirds, where there are more than six."""
    names = sorted({case.edge for case in cases if case.is_layout})
    kept = names if data.EVERYTHING or len(names) <= 6 else names[sorted(ALGORITHMS).index(algorithm) % 3 :: 3]
    return set(names) - set(kept)


@cache
def weight(kernel: tuple[Any, ...]) -> int:
    """How long a software adapter compiles it, about: the square of what there is to read."""
    name, *constants = kernel
    return len(shaders.assemble(name, dict(constants))) ** 2


def fewest_kernels(edges: Mapping[Any, list[frozenset[Any]]]) -> frozenset[Any]:
    """Kernels by which each edge has an option: first those that serve the most edges by weight."""
    have: frozenset[Any] = frozenset()
    left = dict(edges)
    while left := {edge: options for edge, options in left.items() if not any(one <= have for one in options)}:
        gains = Counter(more for options in left.values() for more in {one - have for one in options})
        have |= max(gains, key=lambda more: (gains[more] / sum(map(weight, more)), -len(more), sorted(map(str, more))))
    # Some of the first are for nothing now.
    for kernel in sorted(have, key=weight, reverse=True):
        if all(any(one <= have - {kernel} for one in options) for options in edges.values()):
            have -= {kernel}
    return have


def chosen(found: list[Served], turn: int) -> list[Served]:
    """A case at each edge, which take few kernels, and a third of the shapes that take no other.

    Of several a short one with few ranks; of a type's the one with the most, which tell the most of
    its order. Lengths are edges of every second algorithm.
    """
    others = set() if data.EVERYTHING else {f"length {n}" for n in LENGTHS[turn % 2 :: 2]}
    edges: dict[str, list[Served]] = {}
    for one in found:
        for edge in (edge for edge in one.case.edges() if edge not in others):
            edges.setdefault(edge, []).append(one)
    kernels = fewest_kernels({edge: [one.kernels for one in options] for edge, options in edges.items()})
    served_by = {edge: [one for one in options if one.kernels <= kernels] for edge, options in edges.items()}
    picked = {
        min(options, key=lambda one: -one.case.k if one.case.is_type else one.case.k * one.case.length)
        for options in served_by.values()
    }
    more = {*data.in_turn((one for one in found if one.case.is_shape and one.kernels <= kernels), turn % 3, 3)}
    return [one for one in found if one in picked or one in more]


def kinds_of(number: int, case: Case) -> list[str]:
    """All data for a type, some of it in turn for a layout, one kind in turn for a shape."""
    kinds = data.kinds(oracle.DTYPES[case.element])
    if data.EVERYTHING or case.is_type:
        return kinds
    return [kinds[(number + step) % len(kinds)] for step in ((0,) if case.is_shape else (0, 5, 9))]


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - SPANS))
def test_every_edge(device, algorithm):
    software = algorithm in SERIAL  # as the machine plans that chooses it
    devices: dict[str, Any] = {}
    _, planned = planned_device(device, None, software)
    found = served(algorithm, planned.planner)
    cases = found if data.EVERYTHING else chosen(found, sorted(ALGORITHMS).index(algorithm))
    # The parts of others' plans that are its own are few.
    fewest = FEWEST_OF_STEPS if algorithm in STEPS else FEWEST_OF_COLUMNS if algorithm in COLUMNS else FEWEST
    assert len(cases) >= fewest, f"only {len(cases)} cases are served"
    for number, one in enumerate(cases):
        case = one.case
        if one.by not in devices:
            devices[one.by] = planned_device(device, one.by, software)[0]
        for kind in kinds_of(number, case):
            storage = case.storage(kind, number)
            values, indices = answer(devices[one.by], case.selection(), storage, case.result, case.index_dtype)
            want_values, want_indices = case.expected(storage)
            if case.values:
                oracle.assert_same(values, want_values, (kind, case))
            if case.indices:
                oracle.assert_same(indices, want_indices.astype(case.index_dtype), (kind, case))
