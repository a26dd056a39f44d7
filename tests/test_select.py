"""Top-k by delegates inside a workgroup: one delegate an invocation and several, parts of rows, lists that overflow."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, planning, strided_tensor

from wgdml.plan import Algorithm


@pytest.fixture
def forced(device, monkeypatch):
    """A device that takes one algorithm, as a GPU would or as a software adapter does, and what it planned."""
    return partial(planning, monkeypatch, device.gpu_device)


def own(plans) -> int:
    return dict(plans[-1].dispatches[0].constants)["OWN"]


@pytest.mark.parametrize(("software", "most"), [(False, 1), (False, 3), (True, 4)])
@pytest.mark.parametrize("name", list(oracle.DTYPES))
def test_every_type_and_kind_of_data(forced, name, software, most):
    device, plans = forced(Algorithm.SELECT, software, select_spans=most, loads_each=32, workgroups=16)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        direction = ("largest", "smallest")[(number + software) % 2]
        check(f"top_k-{direction}", data.make(kind, name, (3, 17_003), number), k=17, device=device, case=kind)
    assert own(plans) == most


@pytest.mark.parametrize("n", [600, 1025, 2050, 4096, 9001])
def test_runs_that_end_early(forced, n):
    """The last runs may be short or empty, and rows may begin amid a load."""
    device, _ = forced(Algorithm.SELECT, select_spans=7, loads_each=64)
    for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
        check("top_k-largest", data.make(kind, "float32", (5, n), n), k=20, device=device, case=kind)
    for offset in (1, 2, 3):
        tensor, x = strided_tensor(device, "few_distinct", "float32", (3, n), (n + 5, 1), offset)
        check("top_k-smallest", x, given=tensor, k=30, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, n), (2 * n + 1, 2), 1)
    check("top_k-largest", x, given=tensor, k=30, device=device)


@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "int64"])
@pytest.mark.parametrize(("side_by_side", "n", "k"), [(8, 700, 10), (4, 1000, 40), (8, 10_000, 3), (1, 300, 7)])
def test_down_columns(forced, name, side_by_side, n, k):
    """Neighbouring teams serve neighbouring columns, the last ones fewer; a list overflows with a subset of nothing but firsts."""
    device, plans = forced(Algorithm.SELECT, select_columns=side_by_side, workgroups=1)
    for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
        check("top_k-largest", data.make(kind, name, (n, 67), n), axis=0, k=k, device=device, case=kind)
        check("top_k-smallest", data.make(kind, name, (3, n, 21), n), axis=1, k=k, device=device, case=kind)
    constants = dict(plans[-1].dispatches[0].constants)
    assert constants["ALTERNATE"] and constants["WORKGROUP"] // constants["TEAM"] == side_by_side
    x = np.zeros((n, 70), name)
    x[:: constants["TEAM"]] = np.arange(1, -(-n // constants["TEAM"]) + 1, dtype=name)[:, None]
    check("top_k-largest", x, axis=0, k=k, device=device, case="one subset")
