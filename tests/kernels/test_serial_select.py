"""Top-k and k = 1 by software adapters' kernels: exact for all data and layouts, on any adapter."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from test_every_algorithm import rows

from wgdml import shaders
from wgdml.plan import Machine, Planner


@pytest.fixture
def select(forced):
    return partial(forced, "serial_select")


@pytest.mark.parametrize(("turn", "name"), list(enumerate(["bool", "uint8", "float16", "float32", "int64", "float64"])))
def test_every_width_and_kind_of_data(select, turn, name):
    device, _ = select(True)
    direction = ("largest", "smallest")[turn % 2]
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        for shape, k in (((3, 1003), 6), ((70, 1503), 7), ((3, 4061), 33)):
            check(f"top_k-{direction}", data.make(kind, name, shape, number), k=k, device=device, case=kind)


@pytest.mark.parametrize("name", ["uint8", "float32", "int64"])
def test_the_first_k_lie_in_few_subsets(select, name):
    """Runs of the best fill the lists of a threshold's survivors; equal ones go by index."""
    device, _ = select(True)
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
                "serial/merge": block["kept"],
                "serial/radix_histogram": block["tile"] + 512,
                "serial/radix_scatter": block["tile"] + 512,
            }
            assert iterations.get(dispatch.kernel, 0) < 65_535, (element, n, k, dispatch.kernel)


def test_layouts(select):
    device, _ = select(True)
    for offset in (1, 2, 3):
        for n, k in ((403, 10), (4003, 40)):
            tensor, x = strided_tensor(device, "few_distinct", "float16", (3, n), (n + 1, 1), offset)
            check("top_k-largest", x, given=tensor, k=k, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 403), (901, 2), 1)
    check("top_k-smallest", x, given=tensor, k=10, device=device)
    for shape, axis in (((2000, 9), 0), ((5, 700, 11), 1), ((300, 100), 0)):
        for kind in ("random", "sorted", "constant", "nan_payloads"):
            for k in (3, 30):
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
