"""Top-k of short sequences by lists in registers: exact for all data, wherever the first k lie."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from planning import numbers_of


@pytest.fixture
def forced(forced):
    """A device that takes lists, as a GPU or as a software adapter does, and what it planned."""
    return partial(forced, "select_lists", select_lists={"max_k": 64})


def constants(plans) -> dict[str, int]:
    (dispatch,) = plans[-1].dispatches
    assert dispatch.kernel == "select/lists"
    return numbers_of(dispatch)


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "int64"])
def test_every_width_and_kind_of_data(forced, name, software):
    device, plans = forced(software)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        direction = ("largest", "smallest")[(number + software) % 2]
        check(f"top_k-{direction}", data.make(kind, name, (19, 1003), number), k=7, device=device, case=kind)
    assert constants(plans)["K"] == 7


@pytest.mark.parametrize("name", ["uint8", "float32", "int64"])
def test_the_largest_k(forced, name):
    device, plans = forced(True)
    k = 32 if name == "int64" else 64
    for n in (4 * k, 1001, 5000):
        for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
            check("top_k-largest", data.make(kind, name, (13, n), n), k=k, device=device, case=kind)
    assert constants(plans)["K"] == k and constants(plans)["GROUP"] > 1


def test_few_of_the_groups_have_all(forced):
    """The first k lie in as few groups of loads as can be, near or far, equal or different."""
    device, plans = forced(True, occupancy={"workgroups": 1})
    k, n, rng = 24, 16_000, np.random.default_rng(5)
    for step in (1, 3, 16, 160):
        mine = np.arange(n) // 16 * 16 % (16 * step) == 0
        mine &= np.cumsum(mine) <= 3 * k
        x = rng.integers(0, 5, (9, n)).astype(np.float32)
        x[:, mine] = 100 + rng.permuted(np.tile(np.arange(mine.sum()) // 2, (9, 1)), axis=1)
        check("top_k-largest", x, k=k, device=device, case=step)
        x[:, mine] = 100
        check("top_k-largest", x, k=k, device=device, case=(step, "equal"))
    assert constants(plans)["GROUP"] == 16


def test_groups_are_no_larger_than_swiftshader_compiles(forced):
    device, plans = forced(True)
    for name in ("uint8", "float16", "float32", "int64"):
        check("top_k-largest", data.make("random", name, (9, 3000), 1), k=5, device=device)
        assert 1 < constants(plans)["GROUP"] <= 16


@pytest.mark.parametrize("software", [False, True])
def test_rows_that_start_amid_a_load_and_columns(forced, software):
    device, plans = forced(software)
    for offset in (1, 2, 3):
        tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 403), (407, 1), offset)
        check("top_k-largest", x, given=tensor, k=10, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, 403), (901, 2), 1)
    check("top_k-smallest", x, given=tensor, k=10, device=device)
    for kind in ("random", "sorted", "constant", "nan_payloads"):
        check("top_k-largest", data.make(kind, "float32", (203, 67), 1), axis=0, k=10, device=device, case=kind)
    assert constants(plans)["K"] == 10
