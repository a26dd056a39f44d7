"""Argmax of sequences that lie side by side (reduce_columns.wgsl): the oracle's answers from every shape of teams and loads."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import data
import oracle
import pytest
from checks import check, planning, strided_tensor
from variants import GPU, selection

from wgdml.plan import make_plan
from wgdml.selection import Order

DIRECTIONS = ("argmax-first", "argmax-last", "argmin-first", "argmin-last")

#: As wide loads as elements allow, and so few invocations at work that every sequence is one's.
WIDE = {"columns_loads": 0, "columns_items": 16, "columns_turned": 1 << 30, "loads_each": 1 << 30}


def constants(plans):
    return [dict(plan.dispatches[0].constants) for plan in plans]


@pytest.mark.parametrize("name", list(oracle.DTYPES))
@pytest.mark.parametrize("numbers", [{}, WIDE], ids=["narrow", "wide"])
def test_every_type(device, monkeypatch, name, numbers):
    device, plans = planning(monkeypatch, device.gpu_device, **numbers)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, (2, 45, 48), number)
        for direction in DIRECTIONS:
            check(direction, x, axis=1, device=device, case=kind)
    size = x.dtype.itemsize
    words = 4 if numbers else max(1, size // 4)
    turned = set()
    for c in constants(plans):
        assert (c["INPUT_WORDS"], c["PER_LOAD"], c["LOADS_WHOLE"]) == (words, 4 * words // size, 1)
        pair = 16 if size == 8 else 8
        room = min(32 << 10, device.plan_limits.max_compute_workgroup_storage_size)
        fits = c["WORKGROUP"] * c["PER_LOAD"] * pair <= room
        assert c["TURNED"] == int(bool(numbers) and c["PER_LOAD"] > 1 and fits), c
        turned.add(c["TURNED"])
    assert len(turned) == 1 and (not numbers or size == 1 or turned == {1})


@pytest.mark.parametrize(
    ("shape", "axis", "team", "split"),
    [
        ((1003, 3), 0, 64, 1),  # nothing is idle, whatever the number of columns
        ((100_000, 3), 0, 256, 48),
        ((30_000, 10), 0, 64, 58),
        ((4097, 40), 0, 16, 32),
        ((700, 500), 0, 8, 10),
        ((4, 1000, 7, 7), 1, 8, 15),
        ((8, 100, 16), 1, 8, 1),
        ((16, 256, 64), 1, 8, 1),
        ((21, 300), 0, 2, 1),
        ((7, 4099), 0, 1, 1),
    ],
)
def test_teams(device, monkeypatch, shape, axis, team, split):
    device, plans = planning(monkeypatch, device.gpu_device)
    for kind in ("random", "eight_values", "constant", "sorted"):
        x = data.make(kind, "float32", shape, 3)
        for direction in ("argmax-first", "argmin-last"):
            check(direction, x, axis=axis, device=device, case=kind)
    for c, plan in zip(constants(plans), plans, strict=True):
        across = c["WORKGROUP"] // c["TEAM"]
        most = device.plan_limits.max_compute_invocations_per_workgroup
        assert across * c["TEAM"] == c["WORKGROUP"] <= most
        groups = prod(shape) // shape[axis] // c["PER_LOAD"]
        assert team == 1 or -(-groups // across) * across <= 1.25 * groups + 1  # hardly any are idle
        if most >= 1024:
            assert c["TEAM"] == team
            assert prod(plan.dispatches[0].grid) == -(-groups // across) * split
            assert len(plan.dispatches) == (1 if split == 1 else 2)


@pytest.mark.parametrize("length", [2, 7, 8, 9, 16, 17, 21, 63, 64, 65])
@pytest.mark.parametrize("numbers", [{}, WIDE], ids=["narrow", "wide"])
def test_lengths(device, monkeypatch, length, numbers):
    """The last round of loads may meet the last item again."""
    device, plans = planning(monkeypatch, device.gpu_device, **numbers)
    for columns in (4, 5, 1028):
        for kind in ("random", "eight_values"):
            x = data.make(kind, "float32", (3, length, columns), length)
            for direction in DIRECTIONS:
                check(direction, x, axis=1, device=device, case=(kind, columns))
    for c in constants(plans):
        if c["TEAM"] == 1:
            assert c["RAGGED"] == int(length % c["UNROLL"] > 0)
            assert -(-length // c["UNROLL"]) == -(-length // 8)  # no more rounds than eight loads at a time take


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "int64"])
def test_rows_that_do_not_begin_with_a_load(device, monkeypatch, name):
    device, plans = planning(monkeypatch, device.gpu_device, columns_loads=0, columns_items=16)
    for stride, offset, columns in ((52, 0, 50), (53, 0, 50), (64, 1, 64), (64, 2, 61), (64, 4, 64), (64, 8, 33)):
        given, x = strided_tensor(device, "random", name, (30, columns), (stride, 1), offset)
        for direction in ("argmax-first", "argmin-last"):
            check(direction, x, given=given, axis=0, device=device, case=(stride, offset))
    for c in constants(plans):
        assert c["PER_LOAD"] == 1 or c["PER_LOAD"] * x.dtype.itemsize == 4 * c["INPUT_WORDS"]


def first_of(shape, element="float32", axis=1, limits=GPU):
    """The constants of the first dispatch of argmax, and how many there are."""
    problem = selection(element, shape, (axis,), 1, Order.MAXIMUM, "indices")
    plan = make_plan(problem, limits, vectors=True)
    return dict(plan.dispatches[0].constants), len(plan.dispatches)


def test_any_number_of_columns_takes_one_of_a_few_kernels():
    shapes = [(n, c) for c in range(2, 257) for n in (100, 1000, 10_000, 100_000, 1_234_567)]
    kernels = {tuple(first_of(shape, axis=0)[0].items()) for shape in shapes}
    assert len(kernels) <= 128  # of 1275 shapes


def test_rows_of_a_team_keep_to_the_least_workgroup_memory():
    limits = replace(GPU, max_compute_workgroup_storage_size=16 << 10)
    for element, stored in (("float32", 8), ("int64", 16)):
        for columns in (2, 3, 17, 40, 42, 100, 1000):
            c, _ = first_of((220_000, columns), element, 0, limits)
            assert c["TEAM"] > 1 and c["WORKGROUP"] * c["TOGETHER"] * stored <= 16 << 10, (element, columns)


def test_loads_are_narrow_only_where_the_machine_is_not_full():
    def first(*given, **more):
        c, dispatches = first_of(*given, **more)
        return c["INPUT_WORDS"], c["PER_LOAD"], c["TEAM"], c["WORKGROUP"], dispatches

    assert first((4096, 65536), axis=0) == (4, 4, 8, 1024, 1)
    assert first((64, 128, 256, 128)) == (4, 4, 1, 1024, 1)
    assert first((8, 21, 512, 512)) == (4, 4, 1, 1024, 1)
    assert first((16, 3, 1024, 1024)) == (4, 4, 1, 512, 1)
    assert first((1000, 1000), axis=0) == (1, 1, 8, 1024, 2)
    assert first((8, 21, 256, 256), "float16") == (1, 2, 1, 1024, 1)
    assert first((32, 21, 256, 256), "float16") == (2, 4, 1, 1024, 1)
    assert first((4096, 65536), "uint8", axis=0) == (1, 4, 8, 1024, 1)
    assert first((1_000_000, 3), axis=0) == (1, 1, 256, 768, 2)
