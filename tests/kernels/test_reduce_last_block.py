"""Last-block reduction (reduce/last_block): exact, and nothing left behind for the next."""

from __future__ import annotations

from functools import partial
from typing import Any

import data
import numpy as np
import oracle
import pytest
from checks import check, read, strided_tensor
from planning import DEFAULT, GPU, make_plan, meets, numbers_of, params_of

import wgdml
from wgdml.plan import Machine, Plan
from wgdml.plan.regions import MEETING_BYTES
from wgdml.selection import Layout, Order, make_selection

DIRECTIONS = ("argmax-first", "argmax-last", "argmin-first", "argmin-last")

#: Every sequence is cut, into parts of few loads; and rounds of one load an invocation, so that
#: parts come for many.
SMALL = {"reduce": {"held_loads": 0, "held_workgroup": 32}, "occupancy": {"loads_each": 1, "workgroups": 64}}

Forced = partial[tuple[wgdml.Device, list[Plan]]]


@pytest.fixture(params=[True, False], ids=["subgroups", "no-subgroups"])
def forced(request, forced) -> Forced:
    """A device that plans as for a GPU with these numbers, and what it planned."""
    return partial(forced, subgroups=request.param)


def parts_of(plans: list[Plan]) -> list[int]:
    """How many parts meet, a plan. Each is one dispatch."""
    assert all(len(plan.dispatches) == 1 for plan in plans)
    assert all(meets(plan.dispatches[0]) for plan in plans)
    return [np.prod(plan.dispatches[0].grid) for plan in plans]


def assert_empty(device: wgdml.Device) -> None:
    assert not read(device, device.buffers.scratch(1))[:MEETING_BYTES].any()


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "int64"])
def test_every_width(forced, name):
    device, plans = forced(**SMALL)
    for seed, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, (3, 9001 if oracle.DTYPES[name].itemsize > 1 else 36_001), seed)
        for direction in DIRECTIONS:
            check(direction, x, device=device, case=kind)
    assert min(parts_of(plans)) >= 9
    assert_empty(device)


@pytest.mark.parametrize("n", [2049, 4096, 100_003])
@pytest.mark.parametrize("sequences", [1, 2, 7])
def test_lengths(forced, sequences, n):
    device, _ = forced(**SMALL)
    for kind in ("random", "sorted", "eight_values", "constant"):
        x = data.make(kind, "float32", (sequences, n), n)
        for direction in ("argmax-first", "argmin-last"):
            check(direction, x, device=device, case=kind)
    assert_empty(device)


def test_as_a_gpu_plans_them(forced):
    device, plans = forced(**DEFAULT)
    for shape in ((1, 131_072), (1, 1 << 20), (3, 300_001), (33, 70_000)):
        for name in ("float32", "int64"):
            for direction in DIRECTIONS:
                check(direction, data.make("few_distinct", name, shape, 1), device=device, case=shape)
    assert min(parts_of(plans)) >= 8
    assert_empty(device)


def test_the_winner_alone_in_every_part(forced):
    device, _ = forced(**SMALL)
    n = 32 * 4 * 40 + 3
    places = [*range(0, n, 32 * 4), n - 1]
    for low, high in ((-np.inf, np.inf), (-np.inf, -np.finfo(np.float32).max), (0.0, np.float32(1e-45))):
        x = np.full((len(places), n), low, np.float32)
        x[range(len(places)), places] = high
        for each in (x, -x):
            for first in range(0, len(places), 7):
                for direction in DIRECTIONS:
                    check(direction, each[first : first + 7], device=device, case=(low, high, first))
    assert_empty(device)


@pytest.mark.parametrize("name", ["uint8", "float32", "float64"])
def test_strided_elements(forced, name):
    device, plans = forced("reduce", **SMALL)
    tensor, x = strided_tensor(device, "eight_values", name, (2, 30, 150), (13_000, 405, 2), 5)
    for direction in DIRECTIONS:
        check(direction, x, given=tensor, axis=(1, 2), device=device)
    assert min(parts_of(plans)) > 2


def test_one_after_the_other(forced):
    """Meetings of many shapes, others' scratch in between, none read before all are submitted."""
    device, _ = forced(**SMALL)
    answers = []
    for number in range(24):
        shape = (1 + number % 5, 5000 + 977 * number)
        name = ("float32", "float64", "uint8")[number % 3]
        x = data.make("few_distinct", name, shape, number)
        answers.append((wgdml.argmax(wgdml.asarray(x, device=device), axis=1, device=device), x.argmax(1)))
        if number % 4 == 0:
            values = data.make("random", "float32", (2, 20_000), number)
            answers.append((wgdml.argsort(wgdml.asarray(values, device=device), device=device), oracle.argsort(values, 1)))
    for got, want in answers:
        assert np.array_equal(np.asarray(got), want)
    assert_empty(device)


def test_the_same_every_time(forced):
    """Which part takes which round and arrives last differs by run; the answer does not."""
    device, _ = forced(**SMALL)
    x = data.make("eight_values", "float32", (2, 50_000), 3)
    tensor = wgdml.asarray(x, device=device)
    answers = [wgdml.argmin(tensor, axis=1, device=device) for _ in range(100)]
    for answer in answers:
        assert np.array_equal(np.asarray(answer), x.argmin(1))
    assert_empty(device)


# The plan ----------------------------------------------------------------------------------------


def argmax_plan(limits: Machine, sequences: int, n: int, element: str = "float32", **numbers: Any) -> Plan:
    shape = Layout((sequences, n), (n, 1))
    indices = Layout((sequences, 1), (1, 1))
    s = make_selection(element, shape, (1,), 1, Order.DESCENDING, values=None, indices=indices, index_bytes=4)
    return make_plan(s, limits, numbers=numbers)


@pytest.mark.parametrize("limits", [GPU, Machine()], ids=["gpu", "minimum"])
@pytest.mark.parametrize("element", ["float32", "uint8", "int64"])
def test_they_have_room_to_meet(limits, element):
    met = 0
    for numbers in ({}, SMALL, SMALL | {"occupancy": {"loads_each": 1, "workgroups": 1 << 20}}):
        for sequences in (*range(1, 300, 13), 527, 528, 529, 2000, 4095, 5000):
            for n in (50_000, 131_072, 1 << 20, 1 << 24):
                if sequences * n * 8 > 1 << 31:
                    continue
                plan = argmax_plan(limits, sequences, n, element, **numbers)
                for d in plan.dispatches:
                    c = numbers_of(d)
                    ranges = {b.name: b for b in d.bindings if b.resource == "scratch"}
                    if meets(d):
                        met += 1
                        here, parts = params_of(d)["sequences"], params_of(d)["parts"]
                        assert 4 * here * (2 + parts * (c["PAIR_WORDS"] + 1)) <= MEETING_BYTES == ranges["meeting"].size
                        assert ranges.pop("meeting").offset == 0 and plan.scratch_size >= MEETING_BYTES
                    assert all(b.offset >= MEETING_BYTES for b in ranges.values()), "nothing else is where they meet"
    assert met > 10
