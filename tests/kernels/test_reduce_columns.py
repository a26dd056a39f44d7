"""Argmax of sequences side by side (reduce/columns): exact for every shape of teams and loads."""

from __future__ import annotations

from dataclasses import replace

import data
import oracle
import pytest
from checks import check, strided_tensor
from planning import DEFAULT, GPU, make_plan, numbers_of
from variants import selection

from wgdml.plan.algorithms import reduce
from wgdml.selection import Order

DIRECTIONS = ("argmax-first", "argmax-last", "argmin-first", "argmin-last")

#: As wide loads as elements allow, and so few invocations at work that every sequence is one's.
WIDE = {"columns": {"loads": 0, "items": 16}, "occupancy": {"loads_each": 1 << 12}}


@pytest.fixture(autouse=True)
def all_of_columns(monkeypatch):
    """Few neighbours and small problems too, which are read as rows otherwise."""
    monkeypatch.setattr(reduce, "_SMALL", 0)


def constants(plans):
    return [numbers_of(plan.dispatches[0]) for plan in plans]


@pytest.mark.parametrize(("name", "numbers"), data.paired(["uint8", "float16", "float32", "int64"], ({}, WIDE)))
def test_every_width(forced, name, numbers):
    device, plans = forced(**numbers)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        for shape in ((2, 45, 48), (2, 3, 48)):
            x = data.make(kind, name, shape, number)
            for direction in DIRECTIONS:
                check(direction, x, axis=1, device=device, case=(kind, shape))
    size = x.dtype.itemsize
    words = 4 if numbers else max(1, size // 4)
    for c in constants(plans):
        assert (c["INPUT_WORDS"], c["PER_LOAD"], c["LOADS_WHOLE"]) == (words, 4 * words // size, 1)
    assert not numbers or size == 1 or {c["TRANSPOSED"] for c in constants(plans)} == {0, 1}


@pytest.mark.parametrize(
    ("shape", "axis", "team", "parts"),
    [
        ((1003, 3), 0, True, False),  # no power of two
        ((100_000, 3), 0, True, True),
        ((4097, 40), 0, True, True),
        ((700, 500), 0, True, False),
        ((4500, 130), 0, True, True),
        ((4, 1000, 7, 7), 1, True, False),
        ((2, 4100, 7, 7), 1, True, True),
        ((8, 100, 16), 1, True, False),
        ((30, 900, 1, 2), 1, True, False),  # several sequences of few neighbours a workgroup
        ((12, 2000, 6), 1, True, False),
        ((21, 300), 0, True, False),
        ((7, 4099), 0, False, False),
    ],
)
def test_teams(forced, shape, axis, team, parts):
    """Several rows a workgroup, and parts of columns that another dispatch brings together."""
    device, plans = forced(**DEFAULT)
    for kind in ("random", "eight_values", "constant", "sorted"):
        x = data.make(kind, "float32", shape, 3)
        for direction in ("argmax-first", "argmin-last"):
            check(direction, x, axis=axis, device=device, case=kind)
    for c, plan in zip(constants(plans), plans, strict=True):
        assert c["ACROSS"] * c["TEAM"] <= c["WORKGROUP"] <= device.machine.max_compute_invocations_per_workgroup
        assert (c["TEAM"] > 1) == team == c["TREE"]
        assert (len(plan.dispatches) > 1) == (c["PARTS"] > 1)
        assert (c["PARTS"] > 1) == parts or device.machine.max_compute_invocations_per_workgroup < 1024


@pytest.mark.parametrize("length", [2, 7, 8, 9, 16, 17, 21, 63, 64, 65])
@pytest.mark.parametrize("numbers", [{}, WIDE], ids=["narrow", "wide"])
def test_lengths(forced, length, numbers):
    """The last round of loads may meet the last item again."""
    device, plans = forced(**numbers)
    for columns in (4, 5, 1028):
        for kind in ("random", "eight_values"):
            x = data.make(kind, "float32", (3, length, columns), length)
            for direction in DIRECTIONS:
                check(direction, x, axis=1, device=device, case=(kind, columns))
    for c in constants(plans):
        if c["TEAM"] == 1:
            assert -(-length // c["UNROLL"]) == -(-length // 8)  # as many rounds as by eights


@pytest.mark.parametrize(
    ("name", "direction"),
    [("uint8", "argmax-first"), ("float16", "argmin-last"), ("float32", "argmax-last"), ("int64", "argmin-first")],
)
def test_rows_that_do_not_begin_with_a_load(forced, name, direction):
    device, plans = forced(columns={"loads": 0, "items": 16})
    for stride, offset, columns in ((52, 0, 50), (53, 0, 50), (64, 1, 64), (64, 2, 61), (64, 4, 64), (64, 8, 33)):
        given, x = strided_tensor(device, "random", name, (30, columns), (stride, 1), offset)
        check(direction, x, given=given, axis=0, device=device, case=(stride, offset))
    for c in constants(plans):
        assert c["PER_LOAD"] == 1 or c["PER_LOAD"] * x.dtype.itemsize == 4 * c["INPUT_WORDS"]


def first_of(shape, element="float32", axis=1, limits=GPU):
    """The first dispatch of argmax."""
    problem = selection(element, shape, (axis,), 1, Order.MAXIMUM, "indices")
    return make_plan(problem, limits, vectors=True).dispatches[0]


def test_any_number_of_columns_takes_one_of_a_few_kernels():
    shapes = [(n, c) for c in range(2, 257) for n in (100, 1000, 10_000, 100_000, 1_234_567)]
    kernels = {first_of(shape, axis=0).constants for shape in shapes}
    assert len(kernels) <= 128  # of 1275 shapes


def test_rows_of_a_team_keep_to_the_least_workgroup_memory():
    limits = replace(GPU, max_compute_workgroup_storage_size=16 << 10)
    for element, stored in (("float32", 8), ("int64", 16)):
        for columns in (2, 3, 17, 40, 42, 100, 1000):
            c = numbers_of(first_of((220_000, columns), element, 0, limits))
            assert c["TEAM"] > 1 and c["WORKGROUP"] * c["TOGETHER"] * stored <= 16 << 10, (element, columns)
