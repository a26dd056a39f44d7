"""serial_sample: bounds of a sample, digits where those mislead, ties, lists in order of index."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from test_every_algorithm import rows

from wgdml import shaders


@pytest.fixture
def select(forced):
    return partial(forced, "serial_sample", True)


def levels(plans) -> int:
    return [dispatch.kernel for dispatch in plans[-1].dispatches].count("serial/counts")


@pytest.mark.parametrize(("turn", "name"), list(enumerate(["uint8", "float16", "float32", "int64", "float64"])))
def test_every_width_and_kind_of_data(select, turn, name):
    device, plans = select()
    direction = ("largest", "smallest")[turn % 2]
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        for shape, k in (((3, 3003), 40), ((2, 20_001), 3000), ((40, 503), 100), ((3, 70), 69), ((90, 6), 2)):
            check(f"top_k-{direction}", data.make(kind, name, shape, number), k=k, device=device, case=kind)
    assert levels(plans) == 1 + 2 * np.dtype(oracle.DTYPES[name]).itemsize


@pytest.mark.parametrize("name", ["uint8", "float32", "int64"])
def test_a_sample_that_misleads(select, name):
    """Digits find the k-th where the items of the sample are the first of all, or the last."""
    device, _ = select()
    rng = np.random.default_rng(11)
    n, k = 50_003, 700
    for every in range(40, 60):
        x = rng.integers(20, 90, (2, n)).astype(name)
        # One of these is the step of the sample.
        x[:, ::every] = (100, 10)[every % 2]
        check("top_k-largest", x, k=k, device=device, case=every)
    x = rng.integers(20, 90, (2, n)).astype(name)
    x[0, 17::1000] = 120
    x[1, : n // 2] = 3
    check("top_k-largest", x, k=k, device=device)


def test_ties_are_cut_where_k_items_are_there(select):
    """Of equal items some of a tile are wanted, all of earlier tiles, none of later ones."""
    device, _ = select()
    for n in (1023, 1025, 4097):
        for k in (1, 2, n // 2, n - 1):
            check("top_k-largest", np.full((2, n), 7, np.int32), k=k, device=device, case=(n, k))
            x = np.zeros((2, n), np.uint8)
            x[:, ::3] = 255
            check("top_k-largest", x, k=k, device=device, case=(n, k))
            check("top_k-smallest", x, k=k, device=device, case=(n, k))


def test_layouts(select):
    device, _ = select()
    for offset in (0, 1, 3):
        tensor, x = strided_tensor(device, "few_distinct", "float16", (3, 4003), (4004, 1), offset)
        check("top_k-largest", x, given=tensor, k=300, device=device, case=offset)
        tensor, x = strided_tensor(device, "random", "uint8", (2, 3, 1003), (4000, 1005, 1), offset)
        check("top_k-smallest", x, given=tensor, k=90, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 2003), (4101, 2), 1)
    check("top_k-smallest", x, given=tensor, k=100, device=device)
    for shape, axis in (((2000, 9), 0), ((5, 700, 11), 1)):
        for kind in ("random", "sorted", "constant", "nan_payloads"):
            check("top_k-largest", data.make(kind, "float32", shape, 1), k=200, axis=axis, device=device, case=(shape, kind))


def test_no_invocation_runs_longer_than_lavapipe_lets_it(select):
    """Lavapipe ends all loops after 65,535 turns: of tiles before, of loads, of listed items."""
    device, _ = select()
    for element, n, k in (("float32", 1 << 28, 1 << 20), ("uint8", 1 << 28, 5000), ("int64", 1 << 25, 1 << 22)):
        plan = device.planner.plan(rows("long", n, k, element, 1).selection())
        for dispatch in plan.dispatches:
            block = dict(zip(shaders.layout(), np.frombuffer(dispatch.params, np.uint32)[: len(shaders.layout())], strict=True))
            if dispatch.kernel in ("serial/counts", "serial/passing"):
                per_load = dict(dispatch.constants)["PER_LOAD"]
                assert block["tiles"] + block["tile"] * (1 + per_load) + 100 < 65_535, (element, dispatch.kernel)
