"""Top-k by delegates inside a workgroup: rows, columns, parts of rows, lists that overflow."""

from __future__ import annotations

from dataclasses import replace

import data
import numpy as np
import oracle
import pytest
from checks import check, strided_tensor
from planning import numbers_of, params_of

import wgdml
from wgdml.selection import Layout, Order, make_selection


@pytest.mark.parametrize(("name", "software"), [("uint8", False), ("float16", True), ("float32", False), ("int64", True)])
def test_every_width_and_kind_of_data(forced, name, software):
    device, _ = forced("select_teams", software, occupancy={"loads_each": 32, "workgroups": 16})
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        direction = ("largest", "smallest")[(number + software) % 2]
        check(f"top_k-{direction}", data.make(kind, name, (3, 17_003), number), k=17, device=device, case=kind)


@pytest.mark.parametrize("n", [600, 1025, 2050, 4096, 9001])
def test_runs_that_end_early(forced, n):
    """The last runs may be short or empty, and rows may begin amid a load."""
    device, _ = forced("select_teams", occupancy={"loads_each": 64})
    for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
        check("top_k-largest", data.make(kind, "float32", (5, n), n), k=20, device=device, case=kind)
    for offset in (1, 2, 3):
        tensor, x = strided_tensor(device, "few_distinct", "float32", (3, n), (n + 5, 1), offset)
        check("top_k-smallest", x, given=tensor, k=30, device=device, case=offset)
    tensor, x = strided_tensor(device, "few_distinct", "float32", (3, n), (2 * n + 1, 2), 1)
    check("top_k-largest", x, given=tensor, k=30, device=device)


@pytest.mark.parametrize(
    ("name", "side_by_side", "n", "k", "parts"),
    [
        ("float32", 8, 11_000, 10, 1),
        ("float32", 4, 9000, 16, 1),
        ("float32", 1, 9000, 7, 2),
        ("uint8", 8, 11_000, 10, 1),
        ("float16", 1, 9000, 7, 2),
        ("int64", 4, 9000, 16, 1),
    ],
)
def test_down_columns(forced, name, side_by_side, n, k, parts):
    """Neighbouring teams serve neighbouring columns, the last fewer; a full subset overflows."""
    device, plans = forced(
        "select_teams",
        limits={"max_compute_invocations_per_workgroup": 256},
        select_teams={"columns": side_by_side, "columns_loads": n},
        occupancy={"workgroups": 1 if parts == 1 else 2112},
    )
    for kind in ("random", "sorted", "reversed", "constant", "eight_values"):
        check("top_k-largest", data.make(kind, name, (n, 67), n), axis=0, k=k, device=device, case=kind)
        check("top_k-smallest", data.make(kind, name, (3, n, 21), n), axis=1, k=k, device=device, case=kind)
    constants = numbers_of(plans[-1].dispatches[0])
    assert constants["SIDE_BY_SIDE"] and constants["WORKGROUP"] // constants["TEAM"] == side_by_side
    assert (params_of(plans[-1].dispatches[0])["parts"] > 1) == (parts > 1)
    if parts == 1:
        # In every third column one subset has all that is best, and more than a list holds.
        members = -(-n // constants["TEAM"])
        assert members > constants["PLACES"]
        x = data.make("few_distinct", name, (n, 70), n) % 50
        x[:: constants["TEAM"], ::3] = 60 + np.arange(members)[:, None] % 60
        check("top_k-largest", x, axis=0, k=k, device=device, case="one subset")


@pytest.mark.parametrize("software", [False, True], ids=["as a GPU", "as a software adapter"])
@pytest.mark.parametrize(("slots", "rows", "k"), [(64, 1, 7), (64, 9, 7), (20, 2, 20), (7, 3, 100), (64, 1, 600), (3, 40, 3)])
def test_along_two_axes(forced, software, slots, rows, k):
    """As partial results of blocks are merged: equal items in the order of both axes."""
    device, _ = forced(None, software)
    x = data.make("eight_values", "float32", (slots, rows, k), 5)
    result = Layout((1, rows, k), (0, k, 1))
    selection = make_selection(
        "float32", Layout(x.shape, (rows * k, k, 1)), (0, 2), k, Order.DESCENDING, values=result, indices=result
    )
    values, indices = (
        wgdml.asarray(np.zeros((rows, k), np.float32), device=device),
        wgdml.asarray(np.zeros((rows, k), np.uint32), device=device),
    )
    resources = {
        name: (t.buffer, 0) for name, t in (("input", wgdml.asarray(x, device=device)), ("values", values), ("indices", indices))
    }
    device.run(device.prepare(replace(selection, value_step=1, index_step=1)), resources)
    flat = x.swapaxes(0, 1).reshape(rows, -1)
    want = np.argsort(-flat, axis=1, kind="stable")[:, :k]
    oracle.assert_same(indices.numpy(), want.astype(np.uint32))
    oracle.assert_same(values.numpy(), np.take_along_axis(flat, want, 1))
