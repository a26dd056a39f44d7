"""Sorted lists in registers of software adapters: exact for all data that may fill them."""

from __future__ import annotations

from functools import partial

import data
import numpy as np
import oracle
import pytest
from checks import check, check_ragged


@pytest.fixture
def lists(forced):
    return partial(forced, "serial_lists")


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
def test_sorted_lists(lists, name, k, shape, axis):
    """Lists of each size, of all data that may fill them: in order, equal, NaN."""
    device, _ = lists(True, serial_lists={"max_k": 64})
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name])):
        x = data.make(kind, name, shape, number)
        check(f"top_k-{('largest', 'smallest')[k % 2]}", x, axis=axis, k=k, device=device, case=kind)


@pytest.mark.parametrize(
    ("name", "k", "shape"),
    [("float32", 3, (1, 5003)), ("int64", 8, (3, 20001)), ("float16", 16, (2, 70001)), ("uint8", 5, (70, 66001))],
)
def test_parts_of_long_rows(lists, name, k, shape):
    """Lists of parts are merged. A narrow key leaves 16 bits for an item's place in its part."""
    device, plans = lists(True)
    for number, kind in enumerate(data.kinds(oracle.DTYPES[name]) if shape[0] < 70 else ["few_distinct", "random"]):
        x = data.make(kind, name, shape, number)
        check(f"top_k-{('largest', 'smallest')[k % 2]}", x, k=k, device=device, case=kind)
    assert "serial/merge" in [dispatch.kernel for dispatch in plans[-1].dispatches]


def test_parts_of_ragged_rows(lists):
    """A row ends before its last parts, which list nothing."""
    device, _ = lists(True)
    rng = np.random.default_rng(4)
    x = rng.integers(0, 50, (5, 9001)).astype("float32")
    check_ragged(x, 6, np.array([9001, 0, 3, 700, 6000]), device)


@pytest.mark.parametrize(("name", "k"), [("float32", 8), ("int64", 32)])
def test_sorted_lists_of_ragged_rows(lists, name, k):
    device, _ = lists(True, serial_lists={"max_k": 64})
    rng = np.random.default_rng(k)
    x = rng.integers(0, 50, (1200, 110)).astype(name)
    lengths = rng.integers(0, 111, 1200)
    lengths[:3] = 0, 1, k
    check_ragged(x, k, lengths, device)


@pytest.mark.parametrize(("name", "value"), [("float32", np.nan), ("uint32", 2**32 - 1), ("int64", 2**63 - 1)])
def test_lists_of_the_last_key(lists, name, value):
    # Only the index tells such an item from nothing.
    device, _ = lists(True)
    x = np.full((1000, 40), value, name)
    x[::2, 5] = 1
    check("top_k-smallest", x, k=3, device=device)
