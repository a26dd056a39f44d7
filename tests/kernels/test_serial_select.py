"""Top-k and k = 1 by software adapters' kernels: exact for all data and layouts, on any adapter."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from planning import planned_device
from test_every_algorithm import rows

import wgdml
from wgdml import shaders
from wgdml.plan import Machine, Planner


@pytest.fixture
def select(forced):
    return partial(forced, "serial_select")


def kernels(plans) -> list[str]:
    return [dispatch.kernel for dispatch in plans[-1].dispatches]


@pytest.mark.parametrize(("turn", "name"), list(enumerate(["bool", "uint8", "float16", "float32", "int64", "float64"])))
def test_every_width_and_kind_of_data(select, turn, name):
    device, _ = select(True)
    direction = ("largest", "smallest")[turn % 2]
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        for shape, k in (((3, 1003), 40), ((70, 503), 7), ((3, 61), 33)):
            check(f"top_k-{direction}", data.make(kind, name, shape, number), k=k, device=device, case=kind)


def test_each_way(select):
    """Counting alone, lists in registers, all items, and subsets each take their own kernels."""
    device, plans = select(True)
    for shape, k, expected in (
        ((3, 60), 60, "serial/rank"),
        ((70, 1000), 9, "serial/lists"),
        ((3, 300), 100, "serial/threshold serial/rank"),
        ((3, 3000), 20, "serial/reduce serial/threshold serial/filter serial/rank"),
    ):
        for kind in ("random", "constant", "few_distinct"):
            check("top_k-largest", data.make(kind, "float32", shape, k), k=k, device=device, case=kind)
        assert set(expected.split()) <= set(kernels(plans)), shape


@pytest.mark.parametrize("name", ["uint8", "float32", "int64"])
def test_the_first_k_lie_in_few_subsets(select, name):
    """Runs of the best fill the lists of a threshold's survivors; equal ones go by index."""
    device, plans = select(True)
    rng = np.random.default_rng(3)
    n, k = 200_001, 60
    for run in (k, 3 * k, 5000):
        for step in (1, 8, 32):
            x = rng.integers(0, 50, (2, n)).astype(name)
            start = int(rng.integers(0, n - run * step))
            x[:, start : start + run * step : step] = 100
            check("top_k-largest", x, k=k, device=device, case=(run, step, "equal"))
            x[:, start : start + run * step : step] = 51 + rng.integers(0, 50, (2, run))
            check("top_k-largest", x, k=k, device=device, case=(run, step))
    assert kernels(plans).count("serial/threshold") > 1


def test_segments_of_long_lists(select):
    """What one invocation would look through for longer than lavapipe lets it goes by segments."""
    device, plans = select(True)
    for kind in ("random", "constant", "sorted", "eight_values", "one_stride"):
        check("top_k-largest", data.make(kind, "float32", (2, 200_003), 1), k=1500, device=device, case=kind)
        check("top_k-smallest", data.make(kind, "int64", (1, 150_001), 1), k=900, device=device, case=kind)
    assert kernels(plans).count("serial/threshold") > 2


def test_no_invocation_runs_longer_than_lavapipe_lets_it(device):
    """Lavapipe ends an invocation's loops after 65,535 iterations, and the rest goes missing."""
    machine = Machine(max_storage_buffer_binding_size=(2 << 30) - 4, max_buffer_size=4 << 30, kind="software")
    planner = Planner(machine)
    for element, n, k in (
        ("float32", 1 << 28, 1),
        ("float32", 1 << 28, 100),
        ("int64", 1 << 26, 1200),
        ("float32", 1 << 27, 1 << 27),
    ):
        plan = planner.plan(rows("long", n, k, element, 1).selection())
        for dispatch in plan.dispatches:
            block = dict(zip(shaders.layout(), np.frombuffer(dispatch.params, np.uint32)[: len(shaders.layout())], strict=True))
            iterations = {
                "serial/reduce": block["members"],
                "serial/filter": 17 * block["members"] // max(1, block["slices"]),
                "serial/threshold": min(block["segment"], block["length"]) * (2 * np.dtype(element).itemsize + 8) + block["places"],
                "serial/radix_histogram": block["tile"] + 512,
                "serial/radix_scatter": block["tile"] + 512,
            }
            assert iterations.get(dispatch.kernel, 0) < 65_535, (element, n, k, dispatch.kernel)


def test_layouts(select):
    device, _ = select(True)
    for offset in (1, 2, 3):
        for n, k in ((403, 10), (4003, 10), (403, 100)):
            tensor, x = strided_tensor(device, "few_distinct", "float16", (3, n), (n + 1, 1), offset)
            check("top_k-largest", x, given=tensor, k=k, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 403), (901, 2), 1)
    check("top_k-smallest", x, given=tensor, k=10, device=device)
    for shape, axis in (((2000, 9), 0), ((5, 700, 11), 1), ((300, 100), 0)):
        for kind in ("random", "sorted", "constant", "nan_payloads"):
            for k in (3, 30, 100):
                check("top_k-largest", data.make(kind, "float32", shape, 1), axis=axis, k=k, device=device, case=kind)


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "int64"])
def test_reduce(forced, name):
    device, _ = forced("serial_reduce", True)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        for operator in ("argmax-first", "argmax-last", "argmin-first", "argmin-last"):
            for shape, axis in (((3, 61), 1), ((3, 5003), 1), ((700, 9), 0), ((40, 3, 50), (0, 2))):
                check(operator, data.make(kind, name, shape, number), axis=axis, device=device, case=kind)
    for offset in (1, 2, 3):
        tensor, x = strided_tensor(device, "few_distinct", name, (3, 5003), (5004, 1), offset)
        check("argmax-last", x, given=tensor, device=device, case=offset)


@pytest.mark.parametrize(
    ("name", "k", "shape", "axis"),
    [
        ("float32", 8, (70, 501), 1),
        ("int32", 9, (2, 1000, 35), 1),
        ("float32", 16, (70, 1003), 1),
        ("int64", 17, (33, 4095), 1),
        ("float16", 32, (1, 1001, 140), 1),
        ("uint8", 33, (1000, 140), 1),
        ("float32", 64, (2000, 67), 1),
    ],
)
def test_sorted_lists(select, name, k, shape, axis):
    """Lists of each size, of all data that may fill them: in order, equal, NaN."""
    device, plans = select(True, serial_select={"list_k": 64})
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, shape, number)
        check(f"top_k-{('largest', 'smallest')[k % 2]}", x, axis=axis, k=k, device=device, case=kind)
    assert "serial/lists" in kernels(plans)


@pytest.mark.parametrize(("name", "k"), [("float32", 8), ("int64", 32)])
def test_sorted_lists_of_ragged_rows(select, name, k):
    device, plans = select(True)
    rng = np.random.default_rng(k)
    x = rng.integers(0, 50, (1200, 110)).astype(name)
    lengths = rng.integers(0, 111, 1200)
    lengths[:3] = 0, 1, k
    indices = np.asarray(wgdml.top_k(x, k, lengths=lengths, device=device).indices)
    for row, length, found in zip(x, lengths, indices, strict=True):
        first = np.argsort(-row[:length], kind="stable")[:k]
        assert found.tolist() == [*first, *[-1] * (k - len(first))]
    assert "serial/lists" in kernels(plans)


@pytest.mark.parametrize(("name", "value"), [("float32", np.nan), ("float16", np.nan), ("uint32", 2**32 - 1), ("int64", 2**63 - 1)])
@pytest.mark.parametrize("share", [0.3, 0.97, 1.0])
def test_thresholds_of_the_first_key(select, name, value, share):
    """More items than are wanted have the key of zeros: only the index tells which."""
    device, plans = select(True)
    x = data.make("random", name, (9, 700), 4)
    x[np.random.default_rng(4).random(x.shape) < share] = value
    check("top_k-largest", x, k=100, device=device)
    assert "serial/threshold" in kernels(plans)


@pytest.mark.parametrize(("name", "value"), [("float32", np.nan), ("uint32", 2**32 - 1), ("int64", 2**63 - 1)])
def test_lists_of_the_last_key(select, name, value):
    # Only the index tells such an item from nothing.
    device, plans = select(True)
    x = np.full((1000, 40), value, name)
    x[::2, 5] = 1
    check("top_k-smallest", x, k=3, device=device)
    assert "serial/lists" in kernels(plans)


def test_lists_of_pairs_that_are_all_wanted(device):
    """What windows have found: counted up to 600 pairs, else by a radix sort; no kernel of GPUs."""
    own, planned = planned_device(device, software=True, limits={"max_storage_buffer_binding_size": 1 << 16})
    for length, count in ((20, 2000), (257, 100), (600, 40), (601, 40), (1500, 16)):
        for kind in ("random", "few_distinct"):
            check("argsort-ascending", data.make(kind, "float32", (length, count), 3), axis=0, device=own, case=kind)
    assert not {k for plan in planned.plans for k in (d.kernel for d in plan.dispatches) if k.startswith("row_sort/")}
