"""SELECT_KTH by force: sequences in registers, the k-th of their loads' bests by histograms, a sort by merging."""

from __future__ import annotations

import data
import numpy as np
import oracle
import pytest
from checks import check, planning, strided_tensor

import wgdml
from wgdml.plan import Algorithm, Limits, Plan, make_plan, tuning_for
from wgdml.selection import Layout, Order, make_selection

DIRECTIONS = ("top_k-largest", "top_k-smallest")


@pytest.fixture
def forced(device, monkeypatch):
    def planned(software: bool = False, **numbers: int) -> tuple[wgdml.Device, list[Plan]]:
        return planning(monkeypatch, device.gpu_device, Algorithm.SELECT_KTH, software, **numbers)

    return planned


def most(device: wgdml.Device, name: str = "float32") -> tuple[int, int]:
    """The longest rows and the largest k that this device's workgroups hold."""
    size = oracle.DTYPES[name].itemsize
    t = tuning_for(device.plan_limits, max(1, size // 4))
    return (t.kth_loads * t.kth_workgroup - 1) * 16 // size, t.kth_k


@pytest.mark.parametrize("name", list(oracle.DTYPES))
def test_every_type(forced, name):
    device, plans = forced()
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, (3, 1003), number)
        for direction, k in zip(DIRECTIONS, (33, 250), strict=True):
            check(direction, x, k=k, device=device, case=kind)
    assert {plan.dispatches[0].kernel for plan in plans} == {"select_kth"} and max(len(p.dispatches) for p in plans) == 1


@pytest.mark.parametrize("n", [2, 3, 32, 129, 1000, 4097, 20_000])
def test_lengths(forced, n):
    device, _ = forced()
    n = min(n, most(device)[0])
    for kind in ("random", "sorted", "reversed", "eight_values", "constant"):
        x = data.make(kind, "float32", (2, n), n)
        for k in sorted({1, 17, 32, 500, n // 3, n} & set(range(1, min(n, most(device)[1]) + 1))):
            check(DIRECTIONS[k % 2], x, k=k, device=device, case=kind)


@pytest.mark.parametrize("loads", [1, 2, 8])
@pytest.mark.parametrize("digit", [5, 8, 11])
def test_teams_and_digits(forced, loads, digit):
    device, plans = forced(kth_loads=loads, kth_digit=digit)
    for n in (100, 1001):
        for kind in ("random", "few_distinct"):
            for k in (3, 40):
                check("top_k-largest", data.make(kind, "float32", (5, n), n), k=k, device=device, case=kind)
    assert max(dict(p.dispatches[0].constants)["LOADS"] for p in plans) == loads


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "float64"])
def test_many_items_a_load_overflow_the_list(forced, name):
    """All that comes first in few loads: far more than 2 k pairs do not come after the k-th load's best."""
    device, _ = forced()
    for kind in ("sorted", "constant", "eight_values"):
        x = data.make(kind, name, (2, min(6000, most(device, name)[0])), 7)
        for direction, k in zip(DIRECTIONS, (5, 90), strict=True):
            check(direction, x, k=k, device=device, case=kind)
    x = np.zeros((1, min(6000, most(device, name)[0])), oracle.DTYPES[name])
    x[0, 1000:3000] = 1
    check("top_k-largest", x, k=100, device=device)


@pytest.mark.parametrize("name", ["uint8", "float32", "int64"])
def test_strided_elements_and_skewed_rows(forced, name):
    device, _ = forced()
    for shape, strides, offset in (((3, 500), (1503, 3), 5), ((4, 501), (503, 1), 1), ((2, 999), (1001, 1), 3)):
        tensor, x = strided_tensor(device, "few_distinct", name, shape, strides, offset)
        for direction in DIRECTIONS:
            check(direction, x, given=tensor, k=40, device=device, case=(shape, strides))
    check("top_k-largest", data.make("random", name, (400, 6), 1), k=37, axis=0, device=device)


def test_as_a_software_adapter_plans_them(forced):
    device, plans = forced(software=True)
    for kind in ("random", "sorted", "constant"):
        for k in (32, 100, 250):
            check("top_k-largest", data.make(kind, "float32", (7, 1000), k), k=k, device=device, case=kind)
    assert {p.dispatches[0].kernel for p in plans} == {"select_kth"}


def test_what_it_refuses(forced):
    device, _ = forced()
    with pytest.raises(ValueError, match=r"select_kth takes k up to \d+ .* not k=1025"):
        wgdml.top_k(np.zeros((1, 5000), np.float32), 1025, device=device)
    with pytest.raises(ValueError, match=r"of 8 loads for each of .* not k=2 of 100000 items"):
        wgdml.top_k(np.zeros((1, 100_000), np.float32), 2, device=device)


@pytest.mark.parametrize(
    ("shape", "k", "wanted"),
    [
        ((10_000, 1000), 31, Algorithm.NETWORKS),
        ((10_000, 1000), 50, Algorithm.SELECT_KTH),
        ((10_000, 1000), 100, Algorithm.SELECT_KTH),
        ((100, 1000), 50, Algorithm.SELECT),
        ((100, 1000), 100, Algorithm.SELECT_KTH),
        ((10_000, 1000), 200, Algorithm.SORT_ROWS_RADIX),
        ((10_000, 3000), 40, Algorithm.SELECT_ROWS),
        ((10_000, 3000), 50, Algorithm.SELECT_KTH),
        ((10_000, 3000), 300, Algorithm.SELECT_KTH),
        ((10_000, 3000), 500, Algorithm.SORT_ROWS_RADIX),
        ((1000, 8192), 50, Algorithm.SELECT),
        ((1000, 8192), 1000, Algorithm.SELECT_KTH),
        ((1000, 20_000), 500, Algorithm.SELECT_KTH),
        ((64, 50_257), 50, Algorithm.SELECT),
        ((1, 50_257), 500, Algorithm.RADIX_SELECT),
    ],
)
def test_where_it_is_chosen(shape, k, wanted):
    out = Layout((shape[0], k), (k, 1))
    s = make_selection("float32", Layout(shape, (shape[1], 1)), (1,), k, Order.DESCENDING, values=out, indices=out, index_bytes=4)
    assert make_plan(s, Limits(2**31 - 4, 2**32 - 4096, 1024, 48 << 10)).algorithms[0] is wanted
