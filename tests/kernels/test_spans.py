"""Spans of sequences and payloads by every algorithm: the oracle's values and indices.

Each algorithm that serves a shape is forced. Starts, lengths and counts are at the edges of what it
cuts a sequence into, and beyond the axis.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import data
import numpy as np
import oracle
import pytest
from checks import packed, strided
from planning import ALGORITHMS, SERIAL, STEPS, answer, kernels_of, planned_device
from test_every_algorithm import LAYOUTS, Case, fewest_kernels, layouts_left, rows

from wgdml.plan import Planner
from wgdml.selection import BESIDES, Layout, Selection, make_selection

#: Those that take neither spans nor steps of them.
WITHOUT = STEPS | {"reduce_axes"}
NUMBERS = ("uint32", "int64", "int8", "uint16", "int32", "uint64", "int16", "uint8")


@dataclass(frozen=True)
class Ragged:
    """A case with spans of its own, and a payload or none."""

    case: Case
    given: tuple[str, ...]  #: names of BESIDES
    numbers: str = "uint32"  #: data type of starts, lengths and counts
    payload: str = "uint32"
    longest: int = 0
    shared: bool = False  #: numbers are the same for all sequences, by strides of 0

    @property
    def batch(self) -> tuple[int, ...]:
        return tuple(n for d, n in enumerate(self.case.shape) if d not in self.case.axes)

    def layouts(self) -> dict[str, Layout]:
        """Of what lies beside the input: packed, but for the axes."""
        case = self.case
        one = tuple(1 if d in case.axes else n for d, n in enumerate(case.shape))
        steps = tuple(0 if d in case.axes or self.shared else 3 * s for d, s in enumerate(packed(one)))
        found = {name: Layout(one, steps) for name in self.given if name != "payload"}
        if "payload" in self.given:
            found["payload"] = Layout(case.shape, packed(case.shape))
        return found

    def selection(self) -> Selection:
        case, made = self.case, self.case.selection()
        out = Layout(made_shape(case), made_steps(case))
        besides = {n: (self.payload if n == "payload" else self.numbers, replace(at, offset=5)) for n, at in self.layouts().items()}
        size = np.dtype(self.payload if "payload" in self.given else case.index_dtype).itemsize
        ragged = make_selection(
            case.element,
            Layout(case.shape, case.strides),
            case.axes,
            case.k,
            made.order,
            values=out if case.values else None,
            indices=out if case.indices else None,
            index_bytes=size,
            besides=besides,
            longest=self.longest,
        )
        return replace(ragged, value_step=made.value_step, index_step=made.index_step, input_offset=case.offset)

    def numbers_of(self, name: str, rng: np.random.Generator) -> np.ndarray:
        """Hostile numbers for each sequence; past what a type holds they wrap, as data does."""
        n, k = self.case.length, self.case.k
        edges = {
            "lengths": [0, 1, 2, k - 1, k, k + 1, n // 2, n - 1, n, n + 1, 2**31, 2**32 - 1, 2**40, -1, -n],
            "starts": [0, 1, 3, n // 3, n - k, n - 1, n, n + 5, 2**32 - 1, -3],
            "counts": [0, 1, k // 2, k - 1, k, k + 1, 2**33, -1],
        }[name]
        shape = (1,) * len(self.batch) if self.shared else self.batch
        picked = np.array(edges, object)[rng.integers(0, len(edges), shape)]
        even = np.asarray(rng.integers(0, n + 1, shape)).astype(object)
        picked = np.where(rng.integers(0, 2, shape) > 0, picked, even)
        return np.array([int(v) for v in picked.reshape(-1)], object).reshape(shape)

    def beside(self, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """What the oracle takes, broadcast to the batch, and what lies in memory."""
        meant, stored = {}, {}
        for name in self.given:
            if name == "payload":
                elements = data.make("random", self.payload, int(np.prod(self.case.shape)), 7)
                meant[name] = elements.reshape(self.case.shape)
                stored[name] = np.concatenate([np.zeros(5, elements.dtype), elements])
                continue
            dtype = np.dtype(self.numbers)
            wrapped = np.array([v & ((1 << 8 * dtype.itemsize) - 1) for v in self.numbers_of(name, rng).reshape(-1)], np.uint64)
            numbers = wrapped.astype(f"u{dtype.itemsize}").view(dtype)
            shape = (1,) * len(self.batch) if self.shared else self.batch
            meant[name] = np.broadcast_to(numbers.reshape(shape), self.batch).reshape(-1)
            stored[name] = np.full(5 + 3 * numbers.size, 99).astype(dtype)
            stored[name][5::3] = numbers
        return meant, stored

    def expected(self, storage: np.ndarray, meant: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        case = self.case
        x = strided(storage, case.shape, case.strides, case.offset)
        kept = [d for d in range(x.ndim) if d not in case.axes]
        lines = x.transpose(*kept, *case.axes).reshape(-1, case.length)
        spans = {name: meant[name] for name in meant if name != "payload"}
        if self.longest:
            spans["lengths"] = np.minimum(spans.get("lengths", np.full(len(lines), case.length)).astype(object), self.longest)
        values, indices = oracle.ragged_top_k(lines, case.k, case.largest, **spans)
        found = indices.astype(case.index_dtype)
        if "payload" in meant:
            ids = meant["payload"].transpose(*kept, *case.axes).reshape(-1, case.length)
            ones = oracle.from_bits(np.full(found.shape, -1, np.int64).astype(f"u{ids.itemsize}"), ids.dtype)
            taken = oracle.take(ids, np.maximum(indices, 0), 1)
            found = oracle.from_bits(np.where(indices < 0, oracle.bits(ones), oracle.bits(taken)), ids.dtype)
        if len(case.axes) > 1:
            return values.reshape(case.result), found.reshape(case.result)
        shape = (*self.batch, case.k)
        return tuple(np.moveaxis(part.reshape(shape), -1, case.axes[0]) for part in (values, found))  # type: ignore[return-value]

    def check(self, device: Any, kind: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        storage = self.case.storage(kind, seed)
        meant, stored = self.beside(rng)
        dtype = self.payload if "payload" in self.given else self.case.index_dtype
        values, indices = answer(device, self.selection(), storage, self.case.result, dtype, **stored)
        want_values, want_indices = self.expected(storage, meant)
        where = (kind, seed, self, {name: list(numbers)[:20] for name, numbers in meant.items() if name != "payload"})
        if self.case.indices:
            oracle.assert_same(indices, want_indices, where)
        if self.case.values:
            oracle.assert_same(values, want_values, where)


def made_shape(case: Case) -> tuple[int, ...]:
    return tuple(1 if d in case.axes else n for d, n in enumerate(case.shape))


def made_steps(case: Case) -> tuple[int, ...]:
    steps = packed(case.result)
    if len(case.axes) == 1:
        return steps
    outer = iter(steps)
    return tuple(0 if d in case.axes else next(outer) for d in range(len(case.shape)))


GIVEN: tuple[tuple[str, ...], ...] = (
    ("lengths",),
    ("lengths", "starts"),
    ("starts",),
    ("lengths", "starts", "counts"),
    ("counts",),
    ("lengths", "payload"),
    ("payload",),
    BESIDES,
)
#: Length and k of sequences.
SHAPES = (
    (1003, 17),
    (1003, 40),
    (203, 9),
    (40, 2),
    (1003, 250),
    (301, 300),
    (5003, 100),
    (90, 90),
    (1003, 1),
    (7, 3),
    (33000, 130),
)


def problems() -> Iterator[Ragged]:
    """Shapes with what may be given in turn; types and layouts in turn."""
    elements = tuple(oracle.DTYPES)
    number = 0
    for n, k in SHAPES:
        for given in GIVEN:
            number += 1
            element = elements[number % len(elements)]
            more = {"largest": number % 2 == 0, "index_dtype": ("int64", "uint32")[number % 3 // 2]}
            numbers, payload = NUMBERS[number % 8], ("uint32", "float64", "float32", "int64")[number % 4]
            element = element if number % 3 == 0 else ("float32", "int32")[number // 3 % 2]
            case = rows(f"rows {given}", n, k, element, 5, **more)
            yield Ragged(case, given, numbers, payload, shared=number % 7 == 0)
    for number, (name, make) in enumerate(LAYOUTS.items()):
        for n, k in ((1003, 17), (203, 9), (301, 300), (1003, 1), (40, 3)):
            shape, axes, strides, offset = make(n)
            if len(axes) > 1 and k > 1:
                continue
            given = (GIVEN[3], GIVEN[1], BESIDES)[number % 3]
            given = given[:3] if len(axes) > 1 else given
            element = ("float32", "uint8", "int64", "float16")[(number + k) % 4]
            case = Case(name, element, shape, axes, k, strides or packed(shape), offset, index_dtype="int64")
            yield Ragged(case, given, longest=100 if k < 20 and number % 2 else 0)
    for number, (n, k) in enumerate(((5003, 3), (1003, 40), (40, 3), (203, 9), (5003, 250), (1003, 1))):
        element = ("float32", "uint8", "int64")[number % 3]
        case = Case("segments", element, (130, n), (1,), k, (0, 1), number, index_dtype="int64")
        yield Ragged(case, (GIVEN[1], BESIDES)[number % 2], longest=(0, 300)[number // 2 % 2])
    for number, (n, k) in enumerate(((40, 3), (203, 9), (300, 12), (1003, 100))):
        for given in (GIVEN[0], GIVEN[1], GIVEN[6]):
            element = ("float32", "int32", "int64", "uint8")[number]
            case = Case(f"columns {given}", element, (n, 67), (0,), k, packed((n, 67)), largest=number % 2 > 0)
            yield Ragged(case, given)
    for k, n in ((2, 40), (7, 100), (16, 1003), (9, 203), (100, 300)):
        yield Ragged(rows(f"many rows, k {k}", n, k, count=130), GIVEN[1])


def served(algorithm: str, planner: Planner) -> list[tuple[Ragged, frozenset[Any]]]:
    found = []
    for problem in problems():
        try:
            plan = planner.plan(problem.selection(), algorithm=algorithm)
        except ValueError:
            continue
        found.append((problem, kernels_of(plan)))
    return found


def chosen(found: list[tuple[Ragged, frozenset[Any]]]) -> list[Ragged]:
    """One for each edge, which take few kernels, and all that take no others.

    Edges are what is given, and layouts and ways with starts and without.
    """
    edges: dict[Any, list[tuple[Ragged, frozenset[Any]]]] = {}
    for problem, needed in found:
        layout = problem.case.edge.split()[0]
        way = tuple(sorted({kernel for kernel, *_ in needed}))
        starts = "starts" in problem.given
        for edge in (problem.given, (layout, starts), (way, starts)):
            edges.setdefault(edge, []).append((problem, needed))
    kernels = fewest_kernels({edge: [needed for _, needed in options] for edge, options in edges.items()})
    return [problem for problem, needed in found if needed <= kernels]


def kinds_of(problem: Ragged, number: int) -> list[str]:
    """One kind in turn, and those with many of the key that comes last."""
    kinds = data.kinds(oracle.DTYPES[problem.case.element])
    return [kinds[number % len(kinds)], "extremes", kinds[-1]]


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - WITHOUT))
def test_every_algorithm(device, algorithm):
    software = algorithm in SERIAL
    forced, planned = planned_device(device, algorithm, software)
    found = served(algorithm, planned.planner)
    left = layouts_left(algorithm, (problem.case for problem, _ in found))
    cases = chosen([one for one in found if one[0].case.edge not in left])
    assert len(cases) >= 5, len(cases)
    for number, problem in enumerate(cases):
        for kind in kinds_of(problem, number):
            problem.check(forced, kind, zlib.crc32(f"{algorithm}{number}{kind}".encode()))


@pytest.mark.parametrize("algorithm", sorted(WITHOUT))
def test_those_that_refuse(device, algorithm):
    _, planned = planned_device(device, algorithm)
    assert not [one for one, _ in served(algorithm, planned.planner) if one.selection().ragged]


@pytest.mark.parametrize("binding", [12 << 10, 64 << 10])
@pytest.mark.parametrize("software", [False, True])
def test_sequences_and_batches_over_a_binding(device, software, binding):
    limits = {"max_storage_buffer_binding_size": binding}
    cut, planned = planned_device(device, None, software, limits=limits)
    whole = planned_device(device, None, software)[1].planner
    served = 0
    for number, problem in enumerate(problems()):
        if problem.case.k > 130 or (not data.EVERYTHING and number % (3 if software else 7)):
            continue
        try:
            plan = planned.planner.plan(problem.selection())
        except MemoryError:
            continue
        if len(plan.dispatches) == len(whole.plan(problem.selection()).dispatches):
            continue
        served += 1
        problem.check(cut, kinds_of(problem, number)[number % 3], number)
    assert served >= 3, served


@pytest.mark.parametrize("element", data.in_turn(["float32", "int64"], 1))
def test_bests_of_classes(device, element):
    forced, planned = planned_device(
        device, "delegates", limits={"max_compute_invocations_per_workgroup": 64}, delegates={"loads": 1}
    )
    problem = Ragged(rows("long rows", 300_007, 10, element, 2), GIVEN[1])
    plan = planned.planner.plan(problem.selection(), algorithm="delegates")
    assert all(dict(d.constants)["CLASSES"] for d in plan.dispatches if d.kernel in ("delegates/delegates", "delegates/filter"))
    for number, kind in enumerate(("random", "extremes", "sorted")):
        problem.check(forced, kind, number)


@pytest.mark.parametrize("software", [False, True])
def test_a_sort_of_a_sequence_over_a_binding(device, software):
    limits = {"max_storage_buffer_binding_size": 128 << 10}
    cut, planned = planned_device(device, None, software, limits=limits, occupancy={"processors": 1})
    for given in (("lengths",), ("lengths", "counts"), ("lengths", "payload")):
        problem = Ragged(rows("a sort", 33_000, 33_000, "int32", 1), given)
        if "payload" in given:
            with pytest.raises(MemoryError, match="ids or a payload of a sequence of 33000 items must fit a binding"):
                planned.planner.plan(problem.selection())
            continue
        for seed in range(4):
            problem.check(cut, "extremes", seed)
    starts = Ragged(rows("a sort", 33_000, 33_000, "int32", 1), ("starts",))
    with pytest.raises(MemoryError, match="with starts, sorting takes sequences that fit a binding, not of 33000 items"):
        planned.planner.plan(starts.selection())
