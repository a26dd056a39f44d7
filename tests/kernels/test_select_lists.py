"""Top-k of short columns by lists in registers: exact for all data, wherever the first k lie."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from planning import numbers_of

import wgdml


@pytest.fixture
def forced(forced):
    """A device that takes lists, as a GPU or as a software adapter does, and what it planned."""
    return partial(forced, "select_lists", select_lists={"max_k": 64})


def constants(plans) -> dict[str, int]:
    (dispatch,) = plans[-1].dispatches
    assert dispatch.kernel == "select/lists"
    return numbers_of(dispatch)


@pytest.mark.parametrize(("name", "software"), [("uint8", False), ("float16", True), ("float32", False), ("int64", True)])
def test_every_width_and_kind_of_data(forced, name, software):
    device, plans = forced(software)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        direction = ("largest", "smallest")[(number + software) % 2]
        check(f"top_k-{direction}", data.make(kind, name, (1003, 19), number), axis=0, k=7, device=device, case=kind)
    assert constants(plans)["K"] == 7


@pytest.mark.parametrize("name", ["uint8", "float32", "int64"])
def test_the_largest_k(forced, name):
    device, plans = forced(True)
    k = 32 if name == "int64" else 64
    for n in (4 * k, 1001, 9000):
        for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
            check("top_k-largest", data.make(kind, name, (n, 13), n), axis=0, k=k, device=device, case=kind)
    assert constants(plans)["K"] == k and constants(plans)["UNROLL"] > 1


def test_few_of_the_groups_have_all(forced):
    """The first k lie in as few groups of loads as can be, near or far, equal or different."""
    device, plans = forced(True, occupancy={"workgroups": 1})
    k, n, rng = 24, 4000, np.random.default_rng(5)
    for step in (1, 3, 16, 40):
        mine = np.arange(n) // 4 * 4 % (4 * step) == 0
        mine &= np.cumsum(mine) <= 3 * k
        x = rng.integers(0, 5, (n, 9)).astype(np.float32)
        x[mine] = 100 + rng.permuted(np.tile(np.arange(mine.sum())[:, None] // 2, (1, 9)), axis=0)
        check("top_k-largest", x, axis=0, k=k, device=device, case=step)
        x[mine] = 100
        check("top_k-largest", x, axis=0, k=k, device=device, case=(step, "equal"))
    assert constants(plans)["UNROLL"] == 4


@pytest.mark.parametrize("software", [False, True])
def test_columns_of_any_layout(forced, software):
    device, plans = forced(software)
    for offset in (0, 1, 3):
        tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 403, 5), (4040, 10, 1), offset)
        check("top_k-largest", x, axis=1, given=tensor, k=10, device=device, case=offset)
    for kind in ("random", "sorted", "constant", "nan_payloads"):
        check("top_k-smallest", data.make(kind, "float32", (67, 203), 1), axis=0, k=10, device=device, case=kind)
    assert constants(plans)["K"] == 10


def test_rows_are_refused(forced):
    device, _ = forced()
    with pytest.raises(ValueError, match="select_lists takes columns, which lie side by side along one axis"):
        wgdml.top_k(np.zeros((9, 100), np.float32), 5, device=device)
